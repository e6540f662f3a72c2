#pragma once
// Float32 → blocks, for every runnable type. Good enough to make test models and re-encodings; an importance-weighted quantiser is another thing.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "quant/type.h"

namespace outrider {

// `elements` is a multiple of the block; `blocks` holds bytes_for(type, elements). Values are finite. The type must be runnable.
void encode(QuantType type, const float* values, size_t elements, std::byte* blocks);

// Values that look normally distributed with standard deviation `scale`, the same on every machine for the same seed.
void random_values(uint64_t seed, float scale, std::span<float> out);

// random_values, encoded.
std::vector<std::byte> random_blocks(QuantType type, size_t elements, uint64_t seed, float scale);

}  // namespace outrider
