#include "model/byte_level.h"

namespace outrider {

const std::array<uint16_t, 256>& byte_level_code_points() {
  static const auto table = [] {
    std::array<uint16_t, 256> points{};
    uint16_t next = 0x100;
    for (int b = 0; b < 256; ++b) {
      const bool itself = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
      points[size_t(b)] = itself ? uint16_t(b) : next++;
    }
    return points;
  }();
  return table;
}

std::string byte_level_text(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (char c : bytes) {
    const uint16_t point = byte_level_code_points()[static_cast<unsigned char>(c)];
    if (point < 0x80) { out += char(point); continue; }
    out += char(0xc0 | point >> 6);  // all points are below U+0144: two bytes of UTF-8
    out += char(0x80 | (point & 63));
  }
  return out;
}

std::optional<std::string> bytes_of_byte_level(std::string_view text) {
  static const auto inverse = [] {
    std::array<int16_t, 0x144> bytes;
    bytes.fill(-1);
    for (int b = 0; b < 256; ++b) bytes[byte_level_code_points()[size_t(b)]] = int16_t(b);
    return bytes;
  }();
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    uint32_t point = static_cast<unsigned char>(text[i]);
    if (point >= 0x80) {
      if (point < 0xc2 || point > 0xc5 || i + 1 == text.size() || (text[i + 1] & 0xc0) != 0x80) return std::nullopt;
      point = (point & 31) << 6 | (text[++i] & 63);
    }
    if (point >= inverse.size() || inverse[point] < 0) return std::nullopt;
    out += char(inverse[point]);
  }
  return out;
}

}  // namespace outrider
