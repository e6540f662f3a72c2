// Every fit: codes for a first scale, then the least-squares scale (and offset) for those codes. Four values at a time, because loading waits
// for this.
#include "quant/encode_fast.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/half.h"
#include "quant/blocks.h"

namespace outrider {
namespace {

using Four = float __attribute__((vector_size(16)));
using FourBytes = uint8_t __attribute__((vector_size(4)));

struct Values {  // a block of 32
  Four v[8];
  explicit Values(const float* x) { std::memcpy(v, x, sizeof v); }
};

Four least(Four a, Four b) { return a < b ? a : b; }
Four most(Four a, Four b) { return a > b ? a : b; }
float sum(Four x) { return (x[0] + x[1]) + (x[2] + x[3]); }
float inverse_of(float x) { return x == 0 ? 0 : 1 / x; }

Four nearest_whole(Four x) { return x + 0x1.8p23f - 0x1.8p23f; }  // |x| < 2^22: the sum has no bits below one
Four within(Four x, float lowest, float highest) { return least(most(x, Four{} + lowest), Four{} + highest); }  // NaN becomes lowest

struct Range { float low, high; };

Range range_of(const Values& x) {
  Four low = x.v[0], high = low;
  for (const Four& v : x.v) low = least(low, v), high = most(high, v);
  return {std::min({low[0], low[1], low[2], low[3]}), std::max({high[0], high[1], high[2], high[3]})};
}

struct Sums { float x, q, qq, xq; };

// Over 32 values, less the offset, and their codes. code(x) gives those of four.
template <class Code>
Sums sums_of(const Values& values, float offset, Code&& code) {
  Four x{}, q{}, qq{}, xq{};
  for (const Four& v : values.v) {
    const Four above = v - offset, c = code(above);
    x += above, q += c, qq += c * c, xq += above * c;
  }
  return {sum(x), sum(q), sum(qq), sum(xq)};
}

// Codes 0…15 of (x − offset)·inverse, the first half of the values in the low nibbles.
void put_nibbles(const Values& x, float offset, float inverse, uint8_t* qs) {
  for (int i = 0; i < 4; ++i) {
    const Four low = nearest_whole(within((x.v[i] - offset) * inverse, 0, 15)), high = nearest_whole(within((x.v[i + 4] - offset) * inverse, 0, 15));
    const FourBytes bytes = __builtin_convertvector(low + 16 * high, FourBytes);
    std::memcpy(qs + 4 * i, &bytes, sizeof bytes);
  }
}

// Scale s such that s·code is close to x with codes −8…7. The value of largest magnitude gets −8, short of it or a little beyond.
float fit_symmetric(const Values& x) {
  const Range range = range_of(x);
  const float peak = -range.low > range.high ? range.low : range.high;
  float best = 0, best_gain = 0;
  for (const float end : {-7.5f, -8.3f}) {
    const float inverse = end * inverse_of(peak);
    const Sums s = sums_of(x, 0, [inverse](Four v) { return nearest_whole(least(v * inverse, Four{} + 7)); });
    const float gain = s.xq * s.xq * inverse_of(s.qq);  // Σx² less the squared error that remains
    if (gain > best_gain) best_gain = gain, best = s.xq / s.qq;
  }
  return best;
}

struct Affine { float scale, offset; };

// x ≈ scale·code + offset with codes 0…15.
Affine fit_affine(const Values& x) {
  const Range range = range_of(x);
  const float inverse = 15 * inverse_of(range.high - range.low);
  const Sums s = sums_of(x, range.low, [inverse](Four v) { return nearest_whole(v * inverse); });
  const float determinant = 32 * s.qq - s.q * s.q;
  if (!(determinant > 0)) return {0, range.low};
  return {(32 * s.xq - s.q * s.x) / determinant, range.low + (s.qq * s.x - s.q * s.xq) / determinant};
}

BlockQ4_0 encode_q4_0_fast(const float* values) {
  BlockQ4_0 b;
  const Values x(values);
  b.d = float_to_half(fit_symmetric(x));
  const float d = half_to_float(b.d);
  if (d == 0) std::memset(b.qs, 0x88, sizeof b.qs);
  else put_nibbles(x, -8 * d, 1 / d, b.qs);
  return b;
}

BlockQ4_1 encode_q4_1_fast(const float* values) {
  BlockQ4_1 b;
  const Values x(values);
  const Affine fit = fit_affine(x);
  b.d = float_to_half(fit.scale), b.m = float_to_half(fit.offset);
  put_nibbles(x, half_to_float(b.m), inverse_of(half_to_float(b.d)), b.qs);
  return b;
}

template <class Block, Block (*Encode)(const float*)>
void encode_blocks(const float* x, size_t elements, size_t block_elements, std::byte* out) {
  for (size_t done = 0; done < elements; done += block_elements, out += sizeof(Block)) {
    const Block block = Encode(x + done);
    std::memcpy(out, &block, sizeof block);
  }
}

}  // namespace

void encode_fast(QuantType type, const float* x, size_t elements, std::byte* out) {
  OUTRIDER_CHECK(elements % traits(type).block_elements == 0);
  switch (type) {
    case QuantType::q4_0: return encode_blocks<BlockQ4_0, encode_q4_0_fast>(x, elements, 32, out);
    case QuantType::q4_1: return encode_blocks<BlockQ4_1, encode_q4_1_fast>(x, elements, 32, out);
    default: OUTRIDER_CHECK(!"encode_fast makes Q4_0 and Q4_1");
  }
}

}  // namespace outrider
