#include "quant/decode.h"

#include <bit>

#include "base/check.h"
#include "base/half.h"
#include "quant/blocks.h"

namespace outrider {
namespace {

// Element i of a 32-block with split nibbles: 0..15 in the low halves, 16..31 in the high ones.
int nibble(const uint8_t* qs, int i) { return i < 16 ? qs[i] & 15 : qs[i - 16] >> 4; }
int fifth_bit(const uint8_t qh[4], int i) { return (qh[i / 8] >> (i % 8)) & 1; }

void decode_block(const BlockQ4_0& b, float* y) {
  const float d = half_to_float(b.d);
  for (int i = 0; i < 32; ++i) y[i] = d * float(nibble(b.qs, i) - 8);
}

void decode_block(const BlockQ4_1& b, float* y) {
  const float d = half_to_float(b.d), m = half_to_float(b.m);
  for (int i = 0; i < 32; ++i) y[i] = d * float(nibble(b.qs, i)) + m;
}

void decode_block(const BlockQ5_0& b, float* y) {
  const float d = half_to_float(b.d);
  for (int i = 0; i < 32; ++i) y[i] = d * float((nibble(b.qs, i) | fifth_bit(b.qh, i) << 4) - 16);
}

void decode_block(const BlockQ5_1& b, float* y) {
  const float d = half_to_float(b.d), m = half_to_float(b.m);
  for (int i = 0; i < 32; ++i) y[i] = d * float(nibble(b.qs, i) | fifth_bit(b.qh, i) << 4) + m;
}

void decode_block(const BlockQ8_0& b, float* y) {
  const float d = half_to_float(b.d);
  for (int i = 0; i < 32; ++i) y[i] = d * float(b.qs[i]);
}

void decode_block(const BlockIq4Nl& b, float* y) {
  const float d = half_to_float(b.d);
  for (int i = 0; i < 32; ++i) y[i] = d * float(kIq4Levels[nibble(b.qs, i)]);
}

// 2^(e−128): half of the block's scale, because the levels are doubled. e = 0 and 1 give subnormal floats.
float mxfp4_half_scale(uint8_t e) {
  return e >= 2 ? std::bit_cast<float>(uint32_t(e - 1) << 23) : std::bit_cast<float>(0x00200000u << e);
}

void decode_block(const BlockMxfp4& b, float* y) {
  const float d = mxfp4_half_scale(b.e);
  for (int i = 0; i < 32; ++i) y[i] = d * float(kMxfp4DoubledLevels[nibble(b.qs, i)]);
}

// Q2_K and Q3_K keep two bits of element i in byte 32·(i/128) + i%32, at bit 2·((i%128)/32).
int two_bits(const uint8_t* qs, int i) { return (qs[32 * (i / 128) + i % 32] >> (2 * ((i % 128) / 32))) & 3; }

void decode_block(const BlockQ2K& b, float* y) {
  const float d = half_to_float(b.d), dmin = half_to_float(b.dmin);
  for (int i = 0; i < 256; ++i) {
    const int s = b.scales[i / 16];
    y[i] = d * float(s & 15) * float(two_bits(b.qs, i)) - dmin * float(s >> 4);
  }
}

void decode_block(const BlockQ3K& b, float* y) {
  const float d = half_to_float(b.d);
  for (int i = 0; i < 256; ++i) {
    const int high = (b.hmask[i % 32] >> (i / 32)) & 1;
    y[i] = d * float(q3k_scale_of(b.scales, i / 16)) * float(two_bits(b.qs, i) - (high ? 0 : 4));
  }
}

void decode_block(const BlockQ4K& b, float* y) {
  const float d = half_to_float(b.d), dmin = half_to_float(b.dmin);
  for (int i = 0; i < 256; ++i) {
    const int s = i / 32, q = (b.qs[32 * (i / 64) + i % 32] >> (4 * (s % 2))) & 15;
    const ScaleMin sm = scale_min_of(b.scales, s);
    y[i] = d * float(sm.scale) * float(q) - dmin * float(sm.min);
  }
}

void decode_block(const BlockQ5K& b, float* y) {
  const float d = half_to_float(b.d), dmin = half_to_float(b.dmin);
  for (int i = 0; i < 256; ++i) {
    const int s = i / 32, low = (b.qs[32 * (i / 64) + i % 32] >> (4 * (s % 2))) & 15, high = (b.qh[i % 32] >> s) & 1;
    const ScaleMin sm = scale_min_of(b.scales, s);
    y[i] = d * float(sm.scale) * float(low | high << 4) - dmin * float(sm.min);
  }
}

void decode_block(const BlockQ6K& b, float* y) {
  const float d = half_to_float(b.d);
  for (int i = 0; i < 256; ++i) {
    const int n = i / 128, t = (i % 128) / 32, l = i % 32;
    const int low = (b.ql[64 * n + l + 32 * (t & 1)] >> (4 * (t >> 1))) & 15, high = (b.qh[32 * n + l] >> (2 * t)) & 3;
    y[i] = d * float(b.scales[i / 16]) * float((low | high << 4) - 32);
  }
}

void decode_block(const BlockIq4Xs& b, float* y) {
  const float d = half_to_float(b.d);
  for (int i = 0; i < 256; ++i) {
    const int s = i / 32, j = i % 32;
    y[i] = d * float(iq4xs_scale_of(b, s)) * float(kIq4Levels[nibble(b.qs + 16 * s, j)]);
  }
}

template <class Block>
void decode_blocks(const std::byte* blocks, size_t elements, int block_elements, float* out) {
  for (size_t done = 0; done < elements; done += block_elements, blocks += sizeof(Block))
    decode_block(load_block<Block>(blocks), out + done);
}

template <float (*Convert)(uint16_t)>
void decode_16bit(const std::byte* values, size_t elements, float* out) {
  for (size_t i = 0; i < elements; ++i) out[i] = Convert(load_block<uint16_t>(values + 2 * i));
}

}  // namespace

void decode(QuantType type, const std::byte* blocks, size_t elements, float* out) {
  OUTRIDER_CHECK(elements % traits(type).block_elements == 0);
  if (elements == 0) return;
  switch (type) {
    case QuantType::f32: std::memcpy(out, blocks, elements * sizeof(float)); return;
    case QuantType::f16: decode_16bit<half_to_float>(blocks, elements, out); return;
    case QuantType::bf16: decode_16bit<bf16_to_float>(blocks, elements, out); return;
    case QuantType::q4_0: decode_blocks<BlockQ4_0>(blocks, elements, 32, out); return;
    case QuantType::q4_1: decode_blocks<BlockQ4_1>(blocks, elements, 32, out); return;
    case QuantType::q5_0: decode_blocks<BlockQ5_0>(blocks, elements, 32, out); return;
    case QuantType::q5_1: decode_blocks<BlockQ5_1>(blocks, elements, 32, out); return;
    case QuantType::q8_0: decode_blocks<BlockQ8_0>(blocks, elements, 32, out); return;
    case QuantType::iq4_nl: decode_blocks<BlockIq4Nl>(blocks, elements, 32, out); return;
    case QuantType::mxfp4: decode_blocks<BlockMxfp4>(blocks, elements, 32, out); return;
    case QuantType::q2_k: decode_blocks<BlockQ2K>(blocks, elements, 256, out); return;
    case QuantType::q3_k: decode_blocks<BlockQ3K>(blocks, elements, 256, out); return;
    case QuantType::q4_k: decode_blocks<BlockQ4K>(blocks, elements, 256, out); return;
    case QuantType::q5_k: decode_blocks<BlockQ5K>(blocks, elements, 256, out); return;
    case QuantType::q6_k: decode_blocks<BlockQ6K>(blocks, elements, 256, out); return;
    case QuantType::iq4_xs: decode_blocks<BlockIq4Xs>(blocks, elements, 256, out); return;
    default: OUTRIDER_CHECK(!"type cannot be decoded; callers check TypeTraits::runnable");
  }
}

}  // namespace outrider
