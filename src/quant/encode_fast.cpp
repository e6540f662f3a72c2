// Four values at a time, because loading waits for this.
#include "quant/encode_fast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/half.h"
#include "quant/blocks.h"

namespace outrider {
namespace {

using Four = float __attribute__((vector_size(16)));
using FourInts = int32_t __attribute__((vector_size(16)));
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
FourInts whole(Four x) { return __builtin_convertvector(x + 0.5f, FourInts); }  // of x ≥ 0: the nearest, the upper on a tie
Four within(Four x, float lowest, float highest) { return least(most(x, Four{} + lowest), Four{} + highest); }  // NaN becomes lowest

struct Range { float low, high; };

Range range_of(const Values& x) {
  Four low = x.v[0], high = low;
  for (const Four& v : x.v) low = least(low, v), high = most(high, v);
  return {std::min({low[0], low[1], low[2], low[3]}), std::max({high[0], high[1], high[2], high[3]})};
}

// The best of two scales that map the value of largest magnitude to these ends of the grid, each improved to the s that is best for
// its grid points g: Σxg/Σg², which takes (Σxg)²/Σg² from the squared error. grid(x) gives the points of four scaled values.
template <class Grid>
float fit_scale_fast(const Values& x, std::array<float, 2> ends, Grid&& grid) {
  const Range range = range_of(x);
  const float peak = -range.low > range.high ? range.low : range.high;
  float best = 0, best_gain = 0;
  for (const float end : ends) {
    const float inverse = end * inverse_of(peak);
    Four gg{}, xg{};
    for (const Four& v : x.v) {
      const Four g = grid(v * inverse);
      gg += g * g, xg += v * g;
    }
    const float gain = sum(xg) * sum(xg) * inverse_of(sum(gg));
    if (gain > best_gain) best_gain = gain, best = sum(xg) / sum(gg);
  }
  return best;
}

// For v = 0…255: the level closest to v − 128, and its code.
struct NearestIq4 {
  std::array<float, 256> level{};
  std::array<uint8_t, 256> code{};
  constexpr NearestIq4() {
    for (int v = 0, c = 0; v < 256; ++v) {
      while (c < 15 && 2 * (v - 128) > kIq4Levels[c] + kIq4Levels[c + 1]) ++c;
      level[size_t(v)] = kIq4Levels[c], code[size_t(v)] = uint8_t(c);
    }
  }
};
constexpr NearestIq4 kNearestIq4;

BlockQ4_0 encode_q4_0_fast(const float* values) {
  BlockQ4_0 b;
  const Values x(values);
  // −7.5 and −8.3 round to −8, so that only 7 is a limit.
  b.d = float_to_half(fit_scale_fast(x, {-7.5f, -8.3f}, [](Four v) { return nearest_whole(least(v, Four{} + 7)); }));
  const float inverse = inverse_of(half_to_float(b.d));
  for (int i = 0; i < 4; ++i) {
    const Four low = nearest_whole(within(x.v[i] * inverse + 8, 0, 15)), high = nearest_whole(within(x.v[i + 4] * inverse + 8, 0, 15));
    const FourBytes bytes = __builtin_convertvector(low + 16 * high, FourBytes);
    std::memcpy(b.qs + 4 * i, &bytes, sizeof bytes);
  }
  return b;
}

BlockIq4Nl encode_iq4_nl_fast(const float* values) {
  BlockIq4Nl b;
  const Values x(values);
  b.d = float_to_half(fit_scale_fast(x, {-127, 113}, [](Four v) {
    const FourInts at = whole(v + 128) & 255;  // always within, but for values that are not finite
    return Four{kNearestIq4.level[size_t(at[0])], kNearestIq4.level[size_t(at[1])], kNearestIq4.level[size_t(at[2])], kNearestIq4.level[size_t(at[3])]};
  }));
  const float inverse = inverse_of(half_to_float(b.d));
  for (int i = 0; i < 4; ++i) {
    const FourInts low = whole(within(x.v[i] * inverse + 128, 0, 255)), high = whole(within(x.v[i + 4] * inverse + 128, 0, 255));
    for (int j = 0; j < 4; ++j) b.qs[4 * i + j] = uint8_t(kNearestIq4.code[size_t(low[j])] | kNearestIq4.code[size_t(high[j])] << 4);
  }
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
    case QuantType::iq4_nl: return encode_blocks<BlockIq4Nl, encode_iq4_nl_fast>(x, elements, 32, out);
    default: OUTRIDER_CHECK(!"encode_fast makes Q4_0 and IQ4_NL");
  }
}

}  // namespace outrider
