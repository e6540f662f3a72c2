#pragma once
// Float32 → blocks of four bits, as fast as a file is read, for models that are made smaller while they are loaded. encode() searches
// longer for its scales.
#include <cstddef>

#include "quant/type.h"

namespace outrider {

// As encode(), for Q4_0 and IQ4_NL. Values that are not finite give some code.
void encode_fast(QuantType type, const float* values, size_t elements, std::byte* blocks);

}  // namespace outrider
