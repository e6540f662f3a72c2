#include "quant/encode.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/half.h"
#include "quant/encode_blocks.h"
#include "quant/fit.h"

namespace outrider {
namespace {

// Codes are chosen for the scale as it will be read back, after its rounding to half.
int code_for(float value, float scale, int lowest, int highest) {
  return scale == 0 ? 0 : std::clamp(nearest_int(value / scale), lowest, highest);
}

void put_nibble(uint8_t* qs, int i, int code) { qs[i % 16] |= uint8_t(i < 16 ? code : code << 4); }
void put_fifth_bit(uint8_t qh[4], int i, int code) { qh[i / 8] |= uint8_t((code >> 4 & 1) << (i % 8)); }

template <class Block, Block (*Encode)(const float*)>
void encode_rows(const float* values, size_t elements, size_t block_elements, std::byte* blocks) {
  for (size_t done = 0; done < elements; done += block_elements, blocks += sizeof(Block)) {
    const Block block = Encode(values + done);
    std::memcpy(blocks, &block, sizeof block);
  }
}

template <uint16_t (*Convert)(float)>
void encode_16bit(const float* values, size_t elements, std::byte* out) {
  for (size_t i = 0; i < elements; ++i) {
    const uint16_t bits = Convert(values[i]);
    std::memcpy(out + 2 * i, &bits, 2);
  }
}

uint64_t next_random(uint64_t& state) {  // splitmix64
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

BlockQ4_0 encode_q4_0(const float* x) {
  BlockQ4_0 b{};
  b.d = float_to_half(fit_scale({x, 32}, -8, 7));
  for (int i = 0; i < 32; ++i) put_nibble(b.qs, i, code_for(x[i], half_to_float(b.d), -8, 7) + 8);
  return b;
}

BlockQ5_0 encode_q5_0(const float* x) {
  BlockQ5_0 b{};
  b.d = float_to_half(fit_scale({x, 32}, -16, 15));
  for (int i = 0; i < 32; ++i) {
    const int code = code_for(x[i], half_to_float(b.d), -16, 15) + 16;
    put_nibble(b.qs, i, code & 15), put_fifth_bit(b.qh, i, code);
  }
  return b;
}

// Q4_1 and Q5_1 add the minimum with its sign and spread the codes over the whole range, so an outlier at either end is exact.
BlockQ4_1 encode_q4_1(const float* x) {
  BlockQ4_1 b{};
  const auto [low, high] = std::minmax_element(x, x + 32);
  b.d = float_to_half((*high - *low) / 15), b.m = float_to_half(*low);
  for (int i = 0; i < 32; ++i) put_nibble(b.qs, i, code_for(x[i] - half_to_float(b.m), half_to_float(b.d), 0, 15));
  return b;
}

BlockQ5_1 encode_q5_1(const float* x) {
  BlockQ5_1 b{};
  const auto [low, high] = std::minmax_element(x, x + 32);
  b.d = float_to_half((*high - *low) / 31), b.m = float_to_half(*low);
  for (int i = 0; i < 32; ++i) {
    const int code = code_for(x[i] - half_to_float(b.m), half_to_float(b.d), 0, 31);
    put_nibble(b.qs, i, code & 15), put_fifth_bit(b.qh, i, code);
  }
  return b;
}

BlockQ8_0 encode_q8_0(const float* x) {
  BlockQ8_0 b{};
  float peak = 0;
  for (int i = 0; i < 32; ++i) peak = std::max(peak, std::fabs(x[i]));
  b.d = float_to_half(peak / 127);
  for (int i = 0; i < 32; ++i) b.qs[i] = int8_t(code_for(x[i], half_to_float(b.d), -127, 127));
  return b;
}

BlockIq4Nl encode_iq4_nl(const float* x) {
  BlockIq4Nl b{};
  b.d = float_to_half(fit_scale_to_levels({x, 32}, kIq4Levels));
  const float d = half_to_float(b.d);
  for (int i = 0; i < 32; ++i) put_nibble(b.qs, i, nearest_level(kIq4Levels, d == 0 ? 0 : x[i] / d));
  return b;
}

BlockMxfp4 encode_mxfp4(const float* x) {
  BlockMxfp4 b{};
  float peak = 0;
  for (int i = 0; i < 32; ++i) peak = std::max(peak, std::fabs(x[i]));
  if (peak == 0) return b;
  // The largest level is 6 = 1.5·2²: an exponent two below the peak's keeps the peak within a quarter of the grid's end.
  b.e = uint8_t(std::clamp(std::ilogb(peak) - 2 + 127, 0, 254));
  const float half_scale = std::ldexp(1.0f, int(b.e) - 128);
  for (int i = 0; i < 32; ++i) put_nibble(b.qs, i, nearest_level(kMxfp4DoubledLevels, x[i] / half_scale));
  return b;
}

void encode(QuantType type, const float* x, size_t elements, std::byte* out) {
  OUTRIDER_CHECK(elements % traits(type).block_elements == 0);
  if (elements == 0) return;
  switch (type) {
    case QuantType::f32: std::memcpy(out, x, elements * sizeof(float)); return;
    case QuantType::f16: encode_16bit<float_to_half>(x, elements, out); return;
    case QuantType::bf16: encode_16bit<float_to_bf16>(x, elements, out); return;
    case QuantType::q4_0: encode_rows<BlockQ4_0, encode_q4_0>(x, elements, 32, out); return;
    case QuantType::q4_1: encode_rows<BlockQ4_1, encode_q4_1>(x, elements, 32, out); return;
    case QuantType::q5_0: encode_rows<BlockQ5_0, encode_q5_0>(x, elements, 32, out); return;
    case QuantType::q5_1: encode_rows<BlockQ5_1, encode_q5_1>(x, elements, 32, out); return;
    case QuantType::q8_0: encode_rows<BlockQ8_0, encode_q8_0>(x, elements, 32, out); return;
    case QuantType::iq4_nl: encode_rows<BlockIq4Nl, encode_iq4_nl>(x, elements, 32, out); return;
    case QuantType::mxfp4: encode_rows<BlockMxfp4, encode_mxfp4>(x, elements, 32, out); return;
    case QuantType::q2_k: encode_rows<BlockQ2K, encode_q2_k>(x, elements, 256, out); return;
    case QuantType::q3_k: encode_rows<BlockQ3K, encode_q3_k>(x, elements, 256, out); return;
    case QuantType::q4_k: encode_rows<BlockQ4K, encode_q4_k>(x, elements, 256, out); return;
    case QuantType::q5_k: encode_rows<BlockQ5K, encode_q5_k>(x, elements, 256, out); return;
    case QuantType::q6_k: encode_rows<BlockQ6K, encode_q6_k>(x, elements, 256, out); return;
    case QuantType::iq4_xs: encode_rows<BlockIq4Xs, encode_iq4_xs>(x, elements, 256, out); return;
    default: OUTRIDER_CHECK(!"type cannot be encoded; callers check TypeTraits::runnable");
  }
}

// A sum of twelve uniform values is close enough to normal and, unlike Box-Muller, needs no library function.
void random_values(uint64_t seed, float scale, std::span<float> out) {
  uint64_t state = seed;
  for (float& value : out) {
    int64_t sum = 0;
    for (int i = 0; i < 3; ++i)
      for (uint64_t bits = next_random(state), k = 0; k < 4; ++k, bits >>= 16) sum += int64_t(bits & 0xffff) * 2 - 0xffff;
    value = scale * (float(sum) * 0x1p-17f);  // each term has standard deviation 2^17/√12 over the sum of twelve: 2^17
  }
}

std::vector<std::byte> random_blocks(QuantType type, size_t elements, uint64_t seed, float scale) {
  std::vector<float> values(elements);
  random_values(seed, scale, values);
  std::vector<std::byte> blocks(*bytes_for(type, elements));
  encode(type, values.data(), elements, blocks.data());
  return blocks;
}

}  // namespace outrider
