#include "text/utf8.h"

#include <algorithm>

namespace outrider {
namespace {

struct Lead {
  uint32_t bytes;      // length of the character; 0: no lead byte
  uint8_t low, high;   // allowed second bytes: this excludes overlong forms, surrogates and what is above U+10FFFF
};

Lead lead_of(unsigned char c) {
  if (c < 0xc2 || c > 0xf4) return {0, 0, 0};
  if (c < 0xe0) return {2, 0x80, 0xbf};
  if (c < 0xf0) return {3, uint8_t(c == 0xe0 ? 0xa0 : 0x80), uint8_t(c == 0xed ? 0x9f : 0xbf)};
  return {4, uint8_t(c == 0xf0 ? 0x90 : 0x80), uint8_t(c == 0xf4 ? 0x8f : 0xbf)};
}

// How many bytes from `at` are the beginning of a character, at most its length: the whole character, a cut-off start, or 0.
uint32_t sound_bytes(std::string_view text, size_t at, const Lead& lead) {
  if (lead.bytes == 0) return 0;
  uint32_t n = 1;
  while (n < lead.bytes && at + n < text.size()) {
    const auto c = static_cast<unsigned char>(text[at + n]);
    if (c < (n == 1 ? lead.low : 0x80) || c > (n == 1 ? lead.high : 0xbf)) break;
    ++n;
  }
  return n;
}

}  // namespace

Utf8Char decode_utf8_multibyte(std::string_view text, size_t at) {
  const Lead lead = lead_of(static_cast<unsigned char>(text[at]));
  if (lead.bytes == 0 || sound_bytes(text, at, lead) < lead.bytes) return {kInvalidCodePoint, 1};
  uint32_t point = static_cast<unsigned char>(text[at]) & (0xff >> (lead.bytes + 1));
  for (uint32_t i = 1; i < lead.bytes; ++i) point = point << 6 | (static_cast<unsigned char>(text[at + i]) & 63);
  return {point, lead.bytes};
}

bool is_valid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text, at);
    if (c.code_point == kInvalidCodePoint) return false;
    at += c.bytes;
  }
  return true;
}

size_t incomplete_utf8_tail(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const size_t at = text.size() - back;
    const Lead lead = lead_of(static_cast<unsigned char>(text[at]));
    if (lead.bytes == 0) continue;
    return sound_bytes(text, at, lead) == back && back < lead.bytes ? back : 0;
  }
  return 0;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = decode_utf8(text, at);
    if (c.code_point != kInvalidCodePoint) {
      out.append(text, at, c.bytes);
      at += c.bytes;
      continue;
    }
    out += "\xef\xbf\xbd";
    at += std::max<uint32_t>(1, sound_bytes(text, at, lead_of(static_cast<unsigned char>(text[at]))));
  }
  return out;
}

}  // namespace outrider
