#pragma once
// Blocks → float32. Scalar and slow on purpose: the truth that fast kernels are tested against.
#include <cstddef>

#include "quant/type.h"

namespace outrider {

// `elements` is a multiple of the block; `blocks` needs no alignment. The type must be runnable (TypeTraits::runnable).
// Every value is computed in float32 in the order written in decode.cpp, without fused operations.
void decode(QuantType type, const std::byte* blocks, size_t elements, float* out);

}  // namespace outrider
