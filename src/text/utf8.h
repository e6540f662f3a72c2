#pragma once
// Strict UTF-8: no surrogates, no overlong forms, nothing above U+10FFFF.
#include <cstdint>
#include <string>
#include <string_view>

namespace outrider {

inline constexpr uint32_t kInvalidCodePoint = 0xffffffff;

struct Utf8Char {
  uint32_t code_point;  // kInvalidCodePoint: one byte that belongs to no character
  uint32_t bytes;
};

Utf8Char decode_utf8_multibyte(std::string_view text, size_t at);

// The character that starts at `at` < text.size().
inline Utf8Char decode_utf8(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, 1};
  return decode_utf8_multibyte(text, at);
}

bool is_valid_utf8(std::string_view text);

// Bytes at the end that may still become a character when more bytes follow: 0 to 3.
size_t incomplete_utf8_tail(std::string_view text);

// Each invalid byte, or cut-off start of a character, becomes one U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

}  // namespace outrider
