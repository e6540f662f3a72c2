#include "text/unicode.h"

#include <utf8proc.h>

#include <array>

namespace outrider {
namespace {

bool is_white_space(uint32_t c) {
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
         c == 0x202f || c == 0x205f || c == 0x3000;
}

uint8_t look_up(uint32_t c) {
  if (c > 0x10ffff) return 0;
  const uint8_t space = is_white_space(c) ? kSpace : 0;
  switch (utf8proc_category(utf8proc_int32_t(c))) {
    case UTF8PROC_CATEGORY_LU: case UTF8PROC_CATEGORY_LL: case UTF8PROC_CATEGORY_LT: case UTF8PROC_CATEGORY_LM: case UTF8PROC_CATEGORY_LO: return kLetter;
    case UTF8PROC_CATEGORY_MN: case UTF8PROC_CATEGORY_MC: case UTF8PROC_CATEGORY_ME: return kMark;
    case UTF8PROC_CATEGORY_ND: case UTF8PROC_CATEGORY_NL: case UTF8PROC_CATEGORY_NO: return kNumber;
    case UTF8PROC_CATEGORY_PC: case UTF8PROC_CATEGORY_PD: case UTF8PROC_CATEGORY_PS: case UTF8PROC_CATEGORY_PE: case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF: case UTF8PROC_CATEGORY_PO: return kPunctuation;
    default: return space;
  }
}

}  // namespace

uint8_t char_class(uint32_t code_point) {
  static const auto ascii = [] {
    std::array<uint8_t, 128> table;
    for (uint32_t c = 0; c < 128; ++c) table[c] = look_up(c);
    return table;
  }();
  return code_point < 128 ? ascii[code_point] : look_up(code_point);
}

}  // namespace outrider
