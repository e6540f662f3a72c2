// The 256-value formats: each sub-block is fitted alone, the fits are rounded to the block's small scales, and codes are chosen last,
// for the scales as they will be read back.
#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "quant/encode_blocks.h"
#include "quant/fit.h"

namespace outrider {
namespace {

int affine_code(float x, float scale, float minimum, int highest) {
  return scale == 0 ? 0 : std::clamp(nearest_int((x + minimum) / scale), 0, highest);
}

// Scales and minima of `count` sub-blocks, rounded to whole multiples (0…levels) of two half-precision numbers.
struct AffineScales { uint16_t d, dmin; int scale[16], minimum[16]; };

AffineScales fit_affine_scales(const float* x, int count, int highest_code, int levels) {
  AffineFit fits[16];
  float top_scale = 0, top_minimum = 0;
  for (int s = 0; s < count; ++s) {
    fits[s] = fit_affine({x + s * (256 / count), size_t(256 / count)}, highest_code);
    top_scale = std::max(top_scale, fits[s].scale), top_minimum = std::max(top_minimum, fits[s].minimum);
  }
  AffineScales out{};
  out.d = float_to_half(top_scale / float(levels)), out.dmin = float_to_half(top_minimum / float(levels));
  const float d = half_to_float(out.d), dmin = half_to_float(out.dmin);
  for (int s = 0; s < count; ++s) {
    out.scale[s] = d == 0 ? 0 : std::clamp(nearest_int(fits[s].scale / d), 0, levels);
    out.minimum[s] = dmin == 0 ? 0 : std::clamp(nearest_int(fits[s].minimum / dmin), 0, levels);
  }
  return out;
}

// Signed scales of `count` sub-blocks as multiples (lowest…highest) of one half-precision number.
struct SymmetricScales { uint16_t d; int scale[16]; };

template <class Fit>
SymmetricScales fit_symmetric_scales(const float* x, int count, int lowest, int highest, Fit fit) {
  float scales[16], peak = 0;
  for (int s = 0; s < count; ++s) {
    scales[s] = fit(std::span<const float>{x + s * (256 / count), size_t(256 / count)});
    if (std::fabs(scales[s]) > std::fabs(peak)) peak = scales[s];
  }
  SymmetricScales out{};
  out.d = float_to_half(peak / float(lowest));
  const float d = half_to_float(out.d);
  for (int s = 0; s < count; ++s) out.scale[s] = d == 0 ? 0 : std::clamp(nearest_int(scales[s] / d), lowest, highest);
  return out;
}

// The inverse of scale_min_of.
void pack_scale_mins(const AffineScales& a, uint8_t scales[12]) {
  for (int s = 0; s < 4; ++s) {
    scales[s] = uint8_t(a.scale[s] | (a.scale[s + 4] >> 4) << 6);
    scales[s + 4] = uint8_t(a.minimum[s] | (a.minimum[s + 4] >> 4) << 6);
    scales[s + 8] = uint8_t((a.scale[s + 4] & 15) | (a.minimum[s + 4] & 15) << 4);
  }
}

}  // namespace

BlockQ2K encode_q2_k(const float* x) {
  BlockQ2K b{};
  const AffineScales a = fit_affine_scales(x, 16, 3, 15);
  b.d = a.d, b.dmin = a.dmin;
  for (int s = 0; s < 16; ++s) b.scales[s] = uint8_t(a.scale[s] | a.minimum[s] << 4);
  for (int i = 0; i < 256; ++i) {
    const int s = i / 16, q = affine_code(x[i], half_to_float(a.d) * float(a.scale[s]), half_to_float(a.dmin) * float(a.minimum[s]), 3);
    b.qs[32 * (i / 128) + i % 32] |= uint8_t(q << (2 * ((i % 128) / 32)));
  }
  return b;
}

BlockQ3K encode_q3_k(const float* x) {
  BlockQ3K b{};
  const SymmetricScales a = fit_symmetric_scales(x, 16, -32, 31, [](auto v) { return fit_scale(v, -4, 3); });
  b.d = a.d;
  for (int s = 0; s < 16; ++s) {
    const int code = a.scale[s] + 32;
    b.scales[s % 8] |= uint8_t((code & 15) << (s < 8 ? 0 : 4));
    b.scales[8 + s % 4] |= uint8_t((code >> 4) << (2 * (s / 4)));
  }
  for (int i = 0; i < 256; ++i) {
    const float scale = half_to_float(a.d) * float(a.scale[i / 16]);
    const int q = scale == 0 ? 4 : std::clamp(nearest_int(x[i] / scale), -4, 3) + 4;
    b.qs[32 * (i / 128) + i % 32] |= uint8_t((q & 3) << (2 * ((i % 128) / 32)));
    b.hmask[i % 32] |= uint8_t((q >> 2) << (i / 32));
  }
  return b;
}

BlockQ4K encode_q4_k(const float* x) {
  BlockQ4K b{};
  const AffineScales a = fit_affine_scales(x, 8, 15, 63);
  b.d = a.d, b.dmin = a.dmin;
  pack_scale_mins(a, b.scales);
  for (int i = 0; i < 256; ++i) {
    const int s = i / 32, q = affine_code(x[i], half_to_float(a.d) * float(a.scale[s]), half_to_float(a.dmin) * float(a.minimum[s]), 15);
    b.qs[32 * (i / 64) + i % 32] |= uint8_t(q << (4 * (s % 2)));
  }
  return b;
}

BlockQ5K encode_q5_k(const float* x) {
  BlockQ5K b{};
  const AffineScales a = fit_affine_scales(x, 8, 31, 63);
  b.d = a.d, b.dmin = a.dmin;
  pack_scale_mins(a, b.scales);
  for (int i = 0; i < 256; ++i) {
    const int s = i / 32, q = affine_code(x[i], half_to_float(a.d) * float(a.scale[s]), half_to_float(a.dmin) * float(a.minimum[s]), 31);
    b.qs[32 * (i / 64) + i % 32] |= uint8_t((q & 15) << (4 * (s % 2)));
    b.qh[i % 32] |= uint8_t((q >> 4) << s);
  }
  return b;
}

BlockQ6K encode_q6_k(const float* x) {
  BlockQ6K b{};
  const SymmetricScales a = fit_symmetric_scales(x, 16, -128, 127, [](auto v) { return fit_scale(v, -32, 31); });
  b.d = a.d;
  for (int s = 0; s < 16; ++s) b.scales[s] = int8_t(a.scale[s]);
  for (int i = 0; i < 256; ++i) {
    const float scale = half_to_float(a.d) * float(a.scale[i / 16]);
    const int q = scale == 0 ? 32 : std::clamp(nearest_int(x[i] / scale), -32, 31) + 32;
    const int n = i / 128, t = (i % 128) / 32, l = i % 32;
    b.ql[64 * n + l + 32 * (t & 1)] |= uint8_t((q & 15) << (4 * (t >> 1)));
    b.qh[32 * n + l] |= uint8_t((q >> 4) << (2 * t));
  }
  return b;
}

BlockIq4Xs encode_iq4_xs(const float* x) {
  BlockIq4Xs b{};
  const SymmetricScales a = fit_symmetric_scales(x, 8, -32, 31, [](auto v) { return fit_scale_to_levels(v, kIq4Levels); });
  b.d = a.d;
  for (int s = 0; s < 8; ++s) {
    const int code = a.scale[s] + 32;
    b.scales_l[s / 2] |= uint8_t((code & 15) << (4 * (s % 2)));
    b.scales_h |= uint16_t((code >> 4) << (2 * s));
  }
  for (int i = 0; i < 256; ++i) {
    const int s = i / 32, j = i % 32;
    const float scale = half_to_float(a.d) * float(a.scale[s]);
    b.qs[16 * s + j % 16] |= uint8_t(nearest_level(kIq4Levels, scale == 0 ? 0 : x[i] / scale) << (j < 16 ? 0 : 4));
  }
  return b;
}

}  // namespace outrider
