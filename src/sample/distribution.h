#pragma once
// What a row of logits comes to after the whole sampler chain, for those who must know the probabilities and not a choice alone.
// Sampler::distribution (sampler.h) makes it.
#include <cstdint>
#include <span>

namespace outrider {

struct TokenProbability {
  int32_t token;
  float probability;
};

// The tokens that may be chosen, ascending by id, with probabilities > 0 that sum to 1 but for rounding.
using Distribution = std::span<const TokenProbability>;

float probability_of(Distribution distribution, int32_t token);  // 0 where it is not listed

// The token at `uniform`, in (0, 1), of the running sum. Entries of weight 0 are never drawn, nor need the weights sum to 1; −1 when
// all are 0.
int32_t draw(Distribution weights, double uniform);

}  // namespace outrider
