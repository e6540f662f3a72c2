#pragma once
// Row operations for any lane type, step for step those of scalar/rows.cpp. Rows need not be multiples of 16: the tail goes through a padded copy.
#include "base/exp32.h"
#include "kernels/kernels.h"

namespace outrider::kernels::cpu {

template <class L>
__attribute__((always_inline)) inline typename L::F exp_lanes(typename L::F x) {
  using F = typename L::F;
  const F round = L::set(Exp32::kRound);
  const F clamped = L::min(x, L::set(Exp32::kHigh));
  const F n = L::sub(L::fma(clamped, L::set(Exp32::kLog2E), round), round);
  const F r = L::fma(n, L::set(-Exp32::kLn2Low), L::fma(n, L::set(-Exp32::kLn2High), clamped));
  F p = L::set(Exp32::kTerms[0]);
#pragma GCC unroll 8
  for (int i = 1; i < 8; ++i) p = L::fma(p, r, L::set(Exp32::kTerms[i]));
  return L::zero_unless_greater(L::mul(p, L::power_of_two(n)), x, L::set(Exp32::kLow));
}

template <class L>
__attribute__((always_inline)) inline float fold(typename L::F x) {
  float l[16];
  L::store(l, x);
  for (int step = 8; step >= 1; step /= 2)
    for (int i = 0; i < step; ++i) l[i] += l[i + step];
  return l[0];
}

template <class L>
__attribute__((always_inline)) inline typename L::F load_tail(const float* x, int64_t count, float fill) {
  float l[16];
  for (int i = 0; i < 16; ++i) l[i] = i < count ? x[i] : fill;
  return L::load(l);
}

template <class L>
__attribute__((always_inline)) inline void store_tail(float* x, int64_t count, typename L::F value) {
  float l[16];
  L::store(l, value);
  for (int i = 0; i < count; ++i) x[i] = l[i];
}

// Integer codes of x in ±limit: x · inverse, rounded to even; NaN becomes limit.
template <class L>
__attribute__((always_inline)) inline typename L::I codes_of(typename L::F x, float inverse, float limit) {
  return L::round(L::max(L::min(L::mul(x, L::set(inverse)), L::set(limit)), L::set(-limit)));
}

// Codes, scale and sums of one 32-block into a panel record.
template <class L>
void quantise(const float* x, int64_t blocks, const Activations& a, int column, int64_t first_block) {
  using F = typename L::F;
  const int panel = a.panel_of(column), width = a.panel_width(panel), c = column - a.panel_begin(panel);
  int32_t *record = a.panel(panel) + first_block * PanelRecord::words(width), *starts = a.starts(panel) + first_block * PanelStarts::words(width);
  for (int64_t b = 0; b < blocks; ++b, x += 32, record += PanelRecord::words(width), starts += PanelStarts::words(width)) {
    const F v0 = L::load(x), v1 = L::load(x + 16);
    const float largest = L::largest(L::max(L::abs(v1), L::max(L::abs(v0), L::zero())));
    const float scale = largest / 127.0f, inverse = largest > 0 ? 127.0f / largest : 0.0f;
    alignas(16) int32_t codes[8];
    int sums[2];
    for (int h = 0; h < 2; ++h) {
      const auto rounded = codes_of<L>(h ? v1 : v0, inverse, 127.0f);
      L::store_int8(codes + 4 * h, rounded);
      sums[h] = L::sum_int(rounded);
    }
    for (int g = 0; g < 8; ++g) record[g * width + c] = codes[g];
    write_sums(record, starts, width, c, scale, sums[0], sums[1]);
  }
}

template <class L>
float rms_scale(const float* x, int64_t n, float epsilon) {
  auto squares = L::zero();
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) squares = L::fma(L::load(x + i), L::load(x + i), squares);
  if (i < n) squares = L::fma(load_tail<L>(x + i, n - i, 0), load_tail<L>(x + i, n - i, 0), squares);
  return 1.0f / __builtin_sqrtf(fold<L>(squares) / float(n) + epsilon);
}

template <class L>
void scale_multiply(const float* x, float scale, const float* weight, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) L::store(out + i, L::mul(L::mul(L::load(x + i), L::set(scale)), L::load(weight + i)));
  for (; i < n; ++i) out[i] = x[i] * scale * weight[i];
}

// gate · sigmoid(t) · up: SiLU with t = gate, GELU with its polynomial.
template <class L, bool gelu>
__attribute__((always_inline)) inline typename L::F gate16(typename L::F gate, typename L::F up) {
  auto t = gate;
  if constexpr (gelu) t = L::mul(gate, L::fma(L::mul(gate, gate), L::set(kGeluCubic), L::set(kGeluLinear)));
  return L::mul(L::div(gate, L::add(L::set(1.0f), exp_lanes<L>(L::negate(t)))), up);
}

template <class L, bool gelu>
__attribute__((always_inline)) inline void gate_rows(const float* gate, const float* up, int64_t n, float* out) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) L::store(out + i, gate16<L, gelu>(L::load(gate + i), L::load(up + i)));
  if (i < n) store_tail<L>(out + i, n - i, gate16<L, gelu>(load_tail<L>(gate + i, n - i, 0), load_tail<L>(up + i, n - i, 0)));
}

template <class L>
void silu_multiply(const float* gate, const float* up, int64_t n, float* out) { gate_rows<L, false>(gate, up, n, out); }

template <class L>
void gelu_multiply(const float* gate, const float* up, int64_t n, float* out) { gate_rows<L, true>(gate, up, n, out); }

template <class L>
void rotate(float* x, const float* cosines, const float* sines, int half, bool interleaved) {
  const int64_t step = interleaved ? 2 : 1, second = interleaved ? 1 : half;
  int i = 0;
  for (; !interleaved && i + 16 <= half; i += 16) {
    const auto a = L::load(x + i), b = L::load(x + half + i), c = L::load(cosines + i), s = L::load(sines + i);
    L::store(x + i, L::fnma(b, s, L::mul(a, c)));
    L::store(x + half + i, L::fma(a, s, L::mul(b, c)));
  }
  for (; i < half; ++i) {
    const float a = x[i * step], b = x[i * step + second];
    x[i * step] = __builtin_fmaf(-b, sines[i], a * cosines[i]);
    x[i * step + second] = __builtin_fmaf(a, sines[i], b * cosines[i]);
  }
}

template <class L>
float row_max(const float* x, int64_t n) {
  const float lowest = -__builtin_inff();
  auto best0 = L::set(lowest), best1 = best0;
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) best0 = L::max(L::load(x + i), best0), best1 = L::max(L::load(x + i + 16), best1);  // NaN: the second operand stays
  for (; i < n; i += 16) best0 = L::max(load_tail<L>(x + i, n - i, lowest), best0);
  float l[16], best = lowest;
  L::store(l, L::max(best0, best1));
  for (const float v : l) best = v > best ? v : best;
  return best;
}

template <class L>
float sum_exp(const float* x, int64_t n, float max) {
  auto sum = L::zero();
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) sum = L::add(sum, exp_lanes<L>(L::sub(L::load(x + i), L::set(max))));
  if (i < n) sum = L::add(sum, exp_lanes<L>(L::sub(load_tail<L>(x + i, n - i, -__builtin_inff()), L::set(max))));
  return fold<L>(sum);
}

template <class L>
void exp_below(const float* x, int64_t n, float max, float* out) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) L::store(out + i, exp_lanes<L>(L::sub(L::load(x + i), L::set(max))));
  if (i < n) store_tail<L>(out + i, n - i, exp_lanes<L>(L::sub(load_tail<L>(x + i, n - i, 0), L::set(max))));
}

// The maxima of sixteen lanes of the kMaxBlock numbers from x.
template <class L>
__attribute__((always_inline)) inline typename L::F max_lanes(const float* x) {
  auto best = L::set(-__builtin_inff());
#pragma GCC unroll 4
  for (int i = 0; i < kMaxBlock; i += 16) best = L::max(L::load(x + i), best);
  return best;
}

template <class L>
float block_max(const float* x, int64_t n, float* maxima) {
  auto all = L::set(-__builtin_inff());
  int64_t b = 0;
  for (; (b + 1) * kMaxBlock <= n; ++b) {
    const auto best = max_lanes<L>(x + b * kMaxBlock);
    maxima[b] = L::largest(best);
    all = L::max(best, all);
  }
  float best = L::largest(all);
  if (b * kMaxBlock < n) maxima[b] = row_max<L>(x + b * kMaxBlock, n - b * kMaxBlock), best = maxima[b] > best ? maxima[b] : best;
  return best;
}

// The first block that holds the maximum, then the first place in it.
template <class L>
int64_t argmax(const float* x, int64_t n) {
  float best = -__builtin_inff();
  int64_t at = 0, i = 0;
  for (; i + kMaxBlock <= n; i += kMaxBlock) {
    const auto lanes = max_lanes<L>(x + i);
    if (L::greater(lanes, L::set(best))) best = L::largest(lanes), at = i;
  }
  const float rest = row_max<L>(x + i, n - i);
  if (rest > best) best = rest, at = i;
  for (i = at; i < n; ++i)
    if (x[i] == best) return i;
  return 0;
}

template <class L>
__attribute__((always_inline)) inline uint32_t hits16(typename L::F x, float above, float up_to) {
  return L::greater(x, L::set(above)) & ~L::greater(x, L::set(up_to));
}

template <class L>
int64_t gather(const float* x, int64_t n, const float* maxima, float above, float up_to, int32_t* out) {
  int64_t count = 0;
  for (int64_t b = 0; b * kMaxBlock < n; ++b) {
    if (!(maxima[b] > above)) continue;
    const int64_t end = (b + 1) * kMaxBlock < n ? (b + 1) * kMaxBlock : n;
    for (int64_t i = b * kMaxBlock; i < end; i += 16) {
      const auto v = i + 16 <= end ? L::load(x + i) : load_tail<L>(x + i, end - i, -__builtin_inff());
      count += L::store_places(out + count, int32_t(i), hits16<L>(v, above, up_to));
    }
  }
  return count;
}

// Counted in fixed blocks, which the compiler makes vectors; few blocks hold a loud token, and only those are gone through again.
template <class L>
int64_t loud(const PositionNoise& noise, int32_t first, int64_t n, uint64_t least, int32_t* out) {
  constexpr int kBlock = 64;
  int64_t count = 0;
  for (int64_t i = 0; i < n; i += kBlock) {
    const auto block = uint32_t(first) + uint32_t(i);
    uint64_t hits = 0;
    for (uint32_t j = 0; j < kBlock; ++j) hits += noise.bits(int32_t(block + j)) >= least;
    if (hits == 0) continue;
    for (int64_t j = i; j < i + kBlock && j < n; ++j)
      if (noise.bits(first + int32_t(j)) >= least) out[count++] = first + int32_t(j);
  }
  return count;
}

}  // namespace outrider::kernels::cpu
