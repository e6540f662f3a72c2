// Filters on single values: numbers, defaults, the ends and the size of a sequence.
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "chat/jinja/filters.h"
#include "chat/jinja/objects.h"
#include "chat/jinja/text_ops.h"

namespace outrider::jinja {
namespace {

Value with_default(Runner&, Arguments& a) {
  a.at_most(3);
  const Value& v = a.need(0, "value");
  if (v.is_undefined() || (a.flag(2, "boolean", false) && !v.truthy())) return a.get(1, "default_value", string_value(""));
  return v;
}

int64_t length_of(const Value& v) {
  if (v.is_undefined()) return 0;
  if (v.is_text()) return int64_t(character_count(v.bytes()));
  if (v.is_list()) return int64_t(v.items().size());
  if (v.is_dict()) return int64_t(v.dict().entries.size());
  const int64_t n = v.is_object() ? v.object()->length() : -1;
  if (n < 0) throw TemplateError{"object of type '" + v.type_name() + "' has no len()"};
  return n;
}

Value length(Runner&, Arguments& a) {
  a.at_most(1);
  return Value(length_of(a.need(0, "obj")));
}

Value first(Runner& r, Arguments& a) {
  const std::vector<Value> items = r.iterate(a.need(0, "seq"));
  return items.empty() ? Value::undefined("No first item, sequence was empty.") : items.front();
}

Value last(Runner& r, Arguments& a) {
  const Value& v = a.need(0, "seq");
  if (v.is_object()) throw TemplateError{"'" + v.type_name() + "' object is not reversible"};
  const std::vector<Value> items = r.iterate(v);
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Value absolute(Runner&, Arguments& a) {
  const Value& v = a.need(0, "x");
  if (v.is_undefined()) throw TemplateError{v.why_undefined()};
  if (!v.is_number()) throw TemplateError{"bad operand type for abs(): '" + v.type_name() + "'"};
  if (v.is_float()) return Value(std::fabs(v.number()));
  if (v.integer() == INT64_MIN) throw TemplateError{"an integer grows beyond 64 bits"};
  return Value(v.integer() < 0 ? -v.integer() : v.integer());
}

std::string number_text(const Text& text) {  // without blanks around, an underscore between digits allowed
  const Text inner = strip(text, nullptr, true, true);
  std::string out;
  for (size_t i = 0; i < inner.size(); i++) {
    const char c = inner.bytes()[i];
    const bool between =
        i > 0 && i + 1 < inner.size() && std::isdigit(uint8_t(inner.bytes()[i - 1])) && std::isdigit(uint8_t(inner.bytes()[i + 1]));
    if (c != '_' || !between) out += c;
  }
  return out;
}

bool read_float(const Text& text, double& out) {
  std::string s = number_text(text);
  const size_t sign = !s.empty() && (s[0] == '+' || s[0] == '-') ? 1 : 0;
  if (s.size() <= sign || s.size() > 400) return false;
  for (char& c : s) c = char(std::tolower(uint8_t(c)));
  const std::string rest = s.substr(sign);
  if (rest == "inf" || rest == "infinity" || rest == "nan") {
    out = rest == "nan" ? NAN : s[0] == '-' ? -INFINITY : INFINITY;
    return true;
  }
  if (!std::isdigit(uint8_t(rest[0])) && rest[0] != '.') return false;
  const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), out);
  if (result.ptr != rest.data() + rest.size() || result.ec == std::errc::invalid_argument) return false;
  if (result.ec == std::errc::result_out_of_range) out = std::strtod(rest.c_str(), nullptr);
  if (s[0] == '-') out = -out;
  return true;
}

bool read_integer(const Text& text, int64_t base, int64_t& out) {
  std::string s = number_text(text);
  if (!s.empty() && s[0] == '+') s.erase(0, 1);
  const size_t sign = !s.empty() && s[0] == '-' ? 1 : 0;
  if (s.size() > sign + 2 && s[sign] == '0') {
    const char mark = char(s[sign + 1] | 0x20);
    if ((base == 16 && mark == 'x') || (base == 8 && mark == 'o') || (base == 2 && mark == 'b')) s.erase(sign, 2);
  }
  if (base < 2 || base > 36 || s.size() <= sign) return false;
  const auto result = std::from_chars(s.data(), s.data() + s.size(), out, int(base));
  if (result.ec == std::errc::result_out_of_range) throw TemplateError{"an integer grows beyond 64 bits"};
  return result.ec == std::errc() && result.ptr == s.data() + s.size();
}

Value truncated(double d, const Value& fallback) {
  if (!std::isfinite(d)) return fallback;
  if (std::fabs(d) >= 9.2e18) throw TemplateError{"an integer grows beyond 64 bits"};
  return Value(int64_t(d));
}

Value to_integer(Runner&, Arguments& a) {
  a.at_most(3);
  const Value& v = a.need(0, "value");
  const Value fallback = a.get(1, "default", Value(int64_t(0)));
  if (v.is_undefined()) throw TemplateError{v.why_undefined()};
  if (v.is_integral()) return Value(v.integer());
  if (v.is_float()) return truncated(v.number(), fallback);
  if (!v.is_text()) return fallback;
  int64_t integer = 0;
  double real = 0;
  if (read_integer(v.text(), a.integer(2, "base", 10), integer)) return Value(integer);
  return read_float(v.text(), real) ? truncated(real, fallback) : fallback;
}

Value to_float(Runner&, Arguments& a) {
  a.at_most(2);
  const Value& v = a.need(0, "value");
  if (v.is_undefined()) throw TemplateError{v.why_undefined()};
  if (v.is_number()) return Value(v.number());
  double real = 0;
  return v.is_text() && read_float(v.text(), real) ? Value(real) : a.get(1, "default", Value(0.0));
}

Value round_value(Runner&, Arguments& a) {
  a.at_most(3);
  const Value& v = a.need(0, "value");
  if (v.is_undefined()) throw TemplateError{v.why_undefined()};
  if (!v.is_number()) throw TemplateError{"type " + v.type_name() + " doesn't define __round__ method"};
  const int64_t precision = a.integer(1, "precision", 0);
  const Text* given = a.text(2, "method");
  const std::string method = given ? given->bytes() : "common";
  if (method != "common" && method != "ceil" && method != "floor") throw TemplateError{"method must be common, ceil or floor"};
  if (precision < -300 || precision > 300) throw TemplateError{"a precision of " + std::to_string(precision) + " is out of range"};
  const double scale = std::pow(10.0, double(precision));
  if (method != "common") return Value((method == "ceil" ? std::ceil(v.number() * scale) : std::floor(v.number() * scale)) / scale);
  if (v.is_integral() && precision >= 0) return Value(v.integer());
  if (!std::isfinite(v.number())) return v;
  if (precision < 0) {
    const double rounded = std::nearbyint(v.number() * scale) / scale;
    return v.is_integral() ? Value(int64_t(rounded)) : Value(rounded);
  }
  char text[800];  // rounds the exact binary value half to even, as Python does
  std::snprintf(text, sizeof text, "%.*f", int(precision), v.number());
  return Value(std::strtod(text, nullptr));
}

Value attribute_only(Runner&, Arguments& a) {
  a.at_most(2);
  const Value& v = a.need(0, "obj");
  const std::string name = to_text(a.need(1, "name")).bytes();
  Value out;
  if (v.is_object() ? v.object()->attribute(name, out) : !(out = bound_method(v, name)).is_undefined()) return out;
  return Value::undefined("'" + v.type_name() + " object' has no attribute '" + name + "'");
}

}  // namespace

constexpr FilterEntry kValueFilters[] = {
    {"default", with_default}, {"d", with_default}, {"length", length}, {"count", length}, {"first", first}, {"last", last},
    {"abs", absolute}, {"int", to_integer}, {"float", to_float}, {"round", round_value}, {"attr", attribute_only},
};
std::span<const FilterEntry> value_filters() { return kValueFilters; }

Builtin find_filter(const std::string& name) {
  for (const auto& table : {text_filters(), value_filters(), sequence_filters()}) {
    for (const FilterEntry& entry : table) {
      if (entry.name == name) return entry.function;
    }
  }
  return nullptr;
}

}  // namespace outrider::jinja
