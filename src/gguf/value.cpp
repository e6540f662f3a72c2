#include "gguf/value.h"

#include <array>
#include <cstdio>

namespace outrider {

std::string_view value_type_name(ValueType type) {
  constexpr std::array<std::string_view, kValueTypes> kNames = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                                "bool", "string", "array", "u64", "i64", "f64"};
  return kNames[size_t(type)];
}

size_t value_type_bytes(ValueType type) {
  constexpr std::array<size_t, kValueTypes> kBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kBytes[size_t(type)];
}

std::string printable(std::string_view text, size_t limit) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == limit) return out + "…";
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c < 0x7f) { out += char(c); continue; }
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\x%02x", c);
    out += escape;
  }
  return out;
}

}  // namespace outrider
