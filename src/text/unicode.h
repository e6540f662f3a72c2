#pragma once
// The classes of characters that pre-tokenizers tell apart.
#include <cstdint>

namespace outrider {

enum CharClass : uint8_t {
  kLetter = 1,       // \p{L}
  kMark = 2,         // \p{M}
  kNumber = 4,       // \p{N}
  kPunctuation = 8,  // \p{P}
  kSpace = 16,       // \s, as Unicode's White_Space
};

// A set of CharClass bits; 0 for everything else, also for kInvalidCodePoint.
uint8_t char_class(uint32_t code_point);

}  // namespace outrider
