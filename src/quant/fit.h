#pragma once
// Least-squares fits of a few values to a grid of small integers: the searches that the encoders share.
#include <cstdint>
#include <span>

namespace outrider {

int nearest_int(float x);                    // ties to even, saturated to ±2^22
int nearest_level(std::span<const int8_t> levels, float x);  // index of the closest level; the lower index on a tie

// Scale s such that s·round(x/s), with codes clipped to [lowest, highest], is close to x. 0 when all x are 0. May be negative.
float fit_scale(std::span<const float> x, int lowest, int highest);

// Scale s such that s·level is close to x, each x taking its closest level.
float fit_scale_to_levels(std::span<const float> x, std::span<const int8_t> levels);

struct AffineFit { float scale, minimum; };  // both ≥ 0
// x ≈ scale·code − minimum with codes 0…highest.
AffineFit fit_affine(std::span<const float> x, int highest);

}  // namespace outrider
