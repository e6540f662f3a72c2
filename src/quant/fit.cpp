#include "quant/fit.h"

#include <algorithm>
#include <cmath>

namespace outrider {
namespace {

constexpr int kTries = 9;  // candidates on either side of the scale that maps the largest value to the end of the grid
constexpr float kTryStep = 0.1f;

// The value of largest magnitude, with its sign.
float extreme(std::span<const float> x) {
  float best = 0;
  for (float v : x)
    if (std::fabs(v) > std::fabs(best)) best = v;
  return best;
}

// Best s for given codes is Σxq/Σqq, and the squared error it leaves is Σxx − (Σxq)²/Σqq.
struct Projection {
  double xq = 0, qq = 0;
  void add(float x, int q) { xq += double(x) * q, qq += double(q) * q; }
  double gain() const { return qq > 0 ? xq * xq / qq : 0; }
  float scale() const { return qq > 0 ? float(xq / qq) : 0; }
};

}  // namespace

// Adding 1.5·2^23 leaves the nearest whole number in the low bits of the sum: many times faster than a library call, and encoders live on it.
int nearest_int(float x) {
  const float shifted = std::clamp(x, -0x1p22f, 0x1p22f) + 0x1.8p23f;
  return int(shifted - 0x1.8p23f);
}

int nearest_level(std::span<const int8_t> levels, float x) {
  int best = 0;
  for (int i = 1; i < int(levels.size()); ++i)
    if (std::fabs(x - float(levels[i])) < std::fabs(x - float(levels[best]))) best = i;
  return best;
}

float fit_scale(std::span<const float> x, int lowest, int highest) {
  const float peak = extreme(x);
  if (peak == 0) return 0;
  Projection best;
  for (int k = -kTries; k <= kTries; ++k) {
    const float inverse = (float(lowest) + kTryStep * float(k)) / peak;
    Projection p;
    for (float v : x) p.add(v, std::clamp(nearest_int(v * inverse), lowest, highest));
    if (p.gain() > best.gain()) best = p;
  }
  return best.scale();
}

float fit_scale_to_levels(std::span<const float> x, std::span<const int8_t> levels) {
  const float peak = extreme(x);
  if (peak == 0) return 0;
  Projection best;
  for (int8_t end : {levels.front(), levels.back()}) {
    for (int k = -kTries; k <= kTries; ++k) {
      const float inverse = float(end) * (1 + 0.02f * float(k)) / peak;
      Projection p;
      for (float v : x) p.add(v, levels[nearest_level(levels, v * inverse)]);
      if (p.gain() > best.gain()) best = p;
    }
  }
  return best.scale();
}

AffineFit fit_affine(std::span<const float> x, int highest) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const float bottom = std::min(*low, 0.0f), range = *high - bottom;
  if (range <= 0) return {0, -bottom};
  AffineFit best{range / float(highest), -bottom};
  double best_error = INFINITY;
  for (int k = -kTries; k <= kTries; ++k) {
    const float inverse = (float(highest) + kTryStep * float(k)) / range;
    double n = double(x.size()), sq = 0, sqq = 0, sx = 0, sxq = 0;
    for (float v : x) {
      const int q = std::clamp(nearest_int((v - bottom) * inverse), 0, highest);
      sq += q, sqq += double(q) * q, sx += v, sxq += double(v) * q;
    }
    const double determinant = n * sqq - sq * sq;
    if (determinant <= 0) continue;
    double scale = (n * sxq - sq * sx) / determinant, offset = (sqq * sx - sq * sxq) / determinant;
    if (offset > 0) offset = 0, scale = sxq / sqq;
    if (scale <= 0) continue;
    double error = 0;
    for (float v : x) {
      const int q = std::clamp(nearest_int(float((v - offset) / scale)), 0, highest);
      error += (scale * q + offset - v) * (scale * q + offset - v);
    }
    if (error < best_error) best_error = error, best = {float(scale), float(-offset)};
  }
  return best;
}

}  // namespace outrider
