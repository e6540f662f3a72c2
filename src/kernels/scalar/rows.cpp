#include <algorithm>
#include <cmath>
#include <limits>

#include "base/exp32.h"
#include "kernels/scalar/scalar.h"

namespace outrider::kernels::scalar {

float fold(float (&l)[16]) {
  for (int step = 8; step >= 1; step /= 2)
    for (int i = 0; i < step; ++i) l[i] += l[i + step];
  return l[0];
}

void quantise(const float* x, int64_t blocks, const Activations& a, int column, int64_t first_block) {
  const int panel = a.panel_of(column), width = a.panel_width(panel), c = column - a.panel_begin(panel);
  for (int64_t b = 0; b < blocks; ++b, x += 32) {
    int32_t* record = a.panel(panel) + (first_block + b) * PanelRecord::words(width);
    float largest = 0;
    for (int i = 0; i < 32; ++i) largest = std::fabs(x[i]) > largest ? std::fabs(x[i]) : largest;
    const float scale = largest / 127.0f, inverse = largest > 0 ? 127.0f / largest : 0.0f;
    int sum = 0, sum_lo = 0;
    for (int i = 0; i < 32; ++i) {
      float q = x[i] * inverse;
      q = q < 127.0f ? q : 127.0f;  // NaN becomes 127, as minps has it
      q = q > -127.0f ? q : -127.0f;
      const int code = int((q + Exp32::kRound) - Exp32::kRound);
      reinterpret_cast<int8_t*>(record + (i / 4) * width + c)[i % 4] = int8_t(code);
      sum += code;
      if (i == 15) sum_lo = sum;
    }
    write_sums(record, a.starts(panel) + (first_block + b) * PanelStarts::words(width), width, c, scale, sum_lo, sum - sum_lo);
  }
}

float rms_scale(const float* x, int64_t n, float epsilon) {
  float lanes[16] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i % 16] = std::fma(x[i], x[i], lanes[i % 16]);
  return 1.0f / std::sqrt(fold(lanes) / float(n) + epsilon);
}

void scale_multiply(const float* x, float scale, const float* weight, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] * scale * weight[i];
}

void silu_multiply(const float* gate, const float* up, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = gate[i] / (1.0f + exp32(-gate[i])) * up[i];
}

void gelu_multiply(const float* gate, const float* up, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) {
    const float t = gate[i] * std::fma(gate[i] * gate[i], kGeluCubic, kGeluLinear);
    out[i] = gate[i] / (1.0f + exp32(-t)) * up[i];
  }
}

void rotate(float* x, const float* cosines, const float* sines, int half, bool interleaved) {
  for (int i = 0; i < half; ++i) {
    float& first = x[interleaved ? 2 * i : i];
    float& second = x[interleaved ? 2 * i + 1 : i + half];
    const float a = first, b = second;
    first = std::fma(-b, sines[i], a * cosines[i]);
    second = std::fma(a, sines[i], b * cosines[i]);
  }
}

float row_max(const float* x, int64_t n) {
  float best = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

float block_max(const float* x, int64_t n, float* maxima) {
  for (int64_t b = 0; b * kMaxBlock < n; ++b) maxima[b] = row_max(x + b * kMaxBlock, std::min<int64_t>(kMaxBlock, n - b * kMaxBlock));
  return row_max(x, n);
}

float sum_exp(const float* x, int64_t n, float max) {
  float lanes[16] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i % 16] += exp32(x[i] - max);
  return fold(lanes);
}

void exp_below(const float* x, int64_t n, float max, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = exp32(x[i] - max);
}

int64_t argmax(const float* x, int64_t n) {
  const float best = row_max(x, n);
  for (int64_t i = 0; i < n; ++i)
    if (x[i] == best) return i;
  return 0;
}

int64_t gather(const float* x, int64_t n, const float*, float above, float up_to, int32_t* out) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i)
    if (x[i] > above && x[i] <= up_to) out[count++] = int32_t(i);
  return count;
}

int64_t loud(const PositionNoise& noise, int32_t first, int64_t n, uint64_t least, int32_t* out) {
  int64_t count = 0;
  for (int32_t t = first; t < first + n; ++t)
    if (noise.bits(t) >= least) out[count++] = t;
  return count;
}

}  // namespace outrider::kernels::scalar
