// str() and repr() of values, as Python writes them.
#include <utf8proc.h>

#include <charconv>
#include <cmath>

#include "chat/jinja/value.h"

namespace outrider::jinja {
namespace {

bool printable(uint32_t c) {
  if (c >= 0x20 && c < 0x7f) return true;
  if (c < 0xa1 || (c >= 0xdc80 && c <= 0xdcff)) return false;
  switch (utf8proc_category(utf8proc_int32_t(c))) {
    case UTF8PROC_CATEGORY_CC: case UTF8PROC_CATEGORY_CF: case UTF8PROC_CATEGORY_CS: case UTF8PROC_CATEGORY_CO: case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL: case UTF8PROC_CATEGORY_ZP: case UTF8PROC_CATEGORY_ZS:
      return false;
    default: return true;
  }
}

void append_repr(Text& out, const Text& text) {
  const std::string& bytes = text.bytes();
  const bool double_quoted = bytes.find('\'') != std::string::npos && bytes.find('"') == std::string::npos;
  const char quote = double_quoted ? '"' : '\'';
  out.append(std::string_view(&quote, 1), true);
  for (size_t at = 0; at < bytes.size();) {
    const size_t size = character_size(bytes, at);
    const uint32_t c = character_at(bytes, at);
    char escape[16] = {};
    if (c == '\n') std::snprintf(escape, sizeof escape, "\\n");
    else if (c == '\t') std::snprintf(escape, sizeof escape, "\\t");
    else if (c == '\r') std::snprintf(escape, sizeof escape, "\\r");
    else if (c == '\\' || c == uint32_t(quote)) std::snprintf(escape, sizeof escape, "\\%c", int(c));
    else if (!printable(c)) std::snprintf(escape, sizeof escape, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    out.append_like(escape[0] ? std::string_view(escape) : std::string_view(bytes).substr(at, size), text, at);
    at += size;
  }
  out.append(std::string_view(&quote, 1), true);
}

void append_value(Text& out, const Value& value);

void append_items(Text& out, const std::vector<Value>& items) {
  for (size_t i = 0; i < items.size(); i++) {
    if (i > 0) out.append(", ", true);
    append_value(out, items[i]);
  }
}

void append_value(Text& out, const Value& value) {
  if (value.is_text()) {
    append_repr(out, value.text());
  } else if (value.is_list()) {
    const bool tuple = value.list().tuple;
    out.append(tuple ? "(" : "[", true);
    append_items(out, value.items());
    out.append(tuple ? (value.items().size() == 1 ? ",)" : ")") : "]", true);
  } else if (value.is_dict()) {
    out.append("{", true);
    bool first = true;
    for (const auto& [key, item] : value.dict().entries) {
      if (!first) out.append(", ", true);
      first = false;
      append_value(out, key);
      out.append(": ", true);
      append_value(out, item);
    }
    out.append("}", true);
  } else if (value.is_undefined()) {
    out.append("Undefined", true);
  } else {
    out.append(to_text(value));
  }
}

}  // namespace

std::string float_repr(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific).ptr;
  const std::string_view shortest(buffer, size_t(end - buffer));
  const size_t e = shortest.find('e');
  const int exponent = std::stoi(std::string(shortest.substr(e + 1)));
  std::string digits, sign = shortest[0] == '-' ? "-" : "";
  for (char c : shortest.substr(0, e)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  if (exponent < -4 || exponent >= 16) {
    std::string mantissa = digits.substr(0, 1) + (digits.size() > 1 ? "." + digits.substr(1) : "");
    std::snprintf(buffer, sizeof buffer, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
    return sign + mantissa + buffer;
  }
  if (exponent < 0) return sign + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  if (digits.size() <= size_t(exponent) + 1) return sign + digits + std::string(size_t(exponent) + 1 - digits.size(), '0') + ".0";
  return sign + digits.substr(0, size_t(exponent) + 1) + "." + digits.substr(size_t(exponent) + 1);
}

Text repr(const Value& value) {
  Text out;
  append_value(out, value);
  return out;
}

Text to_text(const Value& value) {
  if (value.is_text()) return value.text();
  if (value.is_undefined()) return {};
  if (value.is_none()) return Text("None", true);
  if (value.is_bool()) return Text(value.boolean() ? "True" : "False", true);
  if (value.is_int()) return Text(std::to_string(value.integer()), true);
  if (value.is_float()) return Text(float_repr(value.number()), true);
  if (value.is_object()) return Text(std::string("<") + value.object()->type_name() + ">", true);
  return repr(value);
}

}  // namespace outrider::jinja
