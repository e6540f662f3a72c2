// "…" % values: the small part of printf-style formatting that templates use.
#include <cmath>
#include <cstdio>

#include "chat/jinja/runner.h"

namespace outrider::jinja {
namespace {

struct Spec {
  std::string flags;
  int width = 0, precision = -1;
  char kind = 0;
};

Spec read_spec(const std::string& bytes, size_t& at) {
  Spec spec;
  while (at < bytes.size() && std::string_view("-+ 0#").find(bytes[at]) != std::string_view::npos) spec.flags += bytes[at++];
  const auto number = [&] {
    int n = 0;
    while (at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9') {
      n = n * 10 + (bytes[at++] - '0');
      if (n > 1000) throw TemplateError{"a format's width is too large"};
    }
    return n;
  };
  spec.width = number();
  if (at < bytes.size() && bytes[at] == '.') {
    at++;
    spec.precision = number();
  }
  if (at >= bytes.size()) throw TemplateError{"incomplete format"};
  spec.kind = bytes[at++];
  return spec;
}

std::string number_text(const Spec& spec, const Value& v) {
  if (!v.is_number()) throw TemplateError{std::string("%") + spec.kind + " format: a real number is required, not " + v.type_name()};
  const bool integral = std::string_view("diuxXo").find(spec.kind) != std::string_view::npos;
  std::string format = "%" + spec.flags;
  if (spec.width > 0) format += std::to_string(spec.width);
  if (spec.precision >= 0) format += "." + std::to_string(spec.precision);
  char buffer[1400 + 400];
  if (integral) {
    if (v.is_float() && !(std::fabs(v.number()) < 9e18)) throw TemplateError{"cannot convert float to integer"};
    format += std::string("ll") + (spec.kind == 'u' || spec.kind == 'i' ? 'd' : spec.kind);
    std::snprintf(buffer, sizeof buffer, format.c_str(), static_cast<long long>(v.is_float() ? int64_t(v.number()) : v.integer()));
  } else {
    format += spec.kind;
    std::snprintf(buffer, sizeof buffer, format.c_str(), v.number());
  }
  return buffer;
}

}  // namespace

Text percent_format(Runner& runner, const Text& format, const std::vector<Value>& values, const Value* mapping, bool all_used) {
  const std::string& bytes = format.bytes();
  Text out;
  size_t used = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t percent = std::min(bytes.find('%', at), bytes.size());
    out.append(format, at, percent);
    if (percent == bytes.size()) break;
    at = percent + 1;
    Value value;
    bool named = false;
    if (at < bytes.size() && bytes[at] == '(') {
      const size_t close = bytes.find(')', at);
      if (close == std::string::npos || !mapping) throw TemplateError{"format requires a mapping"};
      const Value* found = mapping->dict().find(bytes.substr(at + 1, close - at - 1));
      if (!found) throw TemplateError{"'" + bytes.substr(at + 1, close - at - 1) + "'"};
      value = *found;
      named = true;
      at = close + 1;
    }
    const Spec spec = read_spec(bytes, at);
    if (spec.kind == '%') {
      out.append_like("%", format, at - 1);
      continue;
    }
    if (std::string_view("srdiufFeEgGxXoc").find(spec.kind) == std::string_view::npos)
      throw TemplateError{std::string("unsupported format character '") + spec.kind + "'"};
    if (!named) {
      if (used >= values.size()) throw TemplateError{"not enough arguments for format string"};
      value = values[used++];
    }
    if (spec.kind != 's' && spec.kind != 'r' && spec.kind != 'c') {
      out.append(number_text(spec, value), true);
      continue;
    }
    Text text = spec.kind == 'r' ? repr(value) : to_text(value);
    if (spec.precision >= 0) {
      const std::vector<size_t> starts = character_starts(text.bytes());
      if (size_t(spec.precision) + 1 < starts.size()) text = text.substring(0, starts[size_t(spec.precision)]);
    }
    const size_t width = size_t(spec.width), length = character_count(text.bytes());
    const std::string fill(width > length ? width - length : 0, ' ');
    const bool left = spec.flags.find('-') != std::string::npos;
    if (!left) out.append(fill, true);
    out.append(text);
    if (left) out.append(fill, true);
    runner.charge_steps(1);
  }
  if (!mapping && all_used && used < values.size()) throw TemplateError{"not all arguments converted during string formatting"};
  return out;
}

}  // namespace outrider::jinja
