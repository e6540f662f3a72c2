#include "kernels/row_macro.h"

#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/half.h"
#include "quant/blocks.h"

namespace outrider::kernels {

namespace {

uint16_t load16(const uint8_t* p) { return uint16_t(p[0] | p[1] << 8); }

uint32_t load32(const uint8_t* p) {
  uint32_t word;
  std::memcpy(&word, p, 4);
  return word;
}

// Everything below works on four codes at once: these take a part of each byte.
constexpr uint32_t kLow4 = 0x0f0f0f0f, kLow2 = 0x03030303, kLow1 = 0x01010101;

template <class Quad>
OUTRIDER_ALWAYS_INLINE void fill(uint32_t (&quads)[8], Quad&& quad) {
  for (int g = 0; g < 8; ++g) quads[g] = quad(g);
}

void nibbles32(const uint8_t* qs, uint32_t (&quads)[8]) {
  for (int g = 0; g < 4; ++g) {
    const uint32_t word = load32(qs + 4 * g);
    quads[g] = word & kLow4, quads[g + 4] = (word >> 4) & kLow4;
  }
}

// Bits 4g … 4g + 3 become bit 4 of the bytes of quad g: the product puts bit i of four at 8i.
void fifth_bits(uint32_t bits, uint32_t (&quads)[8]) {
  for (int g = 0; g < 8; ++g) quads[g] |= ((((bits >> (4 * g)) & 15) * 0x00204081u) & kLow1) << 4;
}

// Q4_0 Q4_1 Q5_0 Q5_1 IQ4_NL: d, maybe m, maybe four bytes of fifth bits, then nibbles.
template <bool has_min, bool five>
void read_small(const uint8_t* p, int blocks, RowMacro& out) {
  for (int b = 0; b < blocks; ++b) {
    out.d[b] = load16(p), p += 2;
    if (has_min) out.m[b] = load16(p), p += 2;
    const uint8_t* high = p;
    if (five) p += 4;
    nibbles32(p, out.quads[b]), p += 16;
    if (five) fifth_bits(load32(high), out.quads[b]);
  }
}

void read_q8_0(const uint8_t* p, int blocks, RowMacro& out) {
  for (int b = 0; b < blocks; ++b, p += 34) {
    out.d[b] = load16(p);
    fill(out.quads[b], [p](int g) { return load32(p + 2 + 4 * g) ^ 0x80808080; });
  }
}

void read_mxfp4(const uint8_t* p, int blocks, RowMacro& out) {
  for (int b = 0; b < blocks; ++b, p += 17) {
    // 2^(e−128): half of the format's 2^(e−127), since the table holds doubled values. e = 0, 1 give subnormals.
    out.f[b] = p[0] > 1 ? std::bit_cast<float>(uint32_t(p[0] - 1) << 23) : std::bit_cast<float>(0x200000u << p[0]);
    nibbles32(p + 1, out.quads[b]);
  }
}

// scale_min_of (quant/blocks.h) for four sub-blocks at once.
void k_scales(const uint8_t* packed, RowMacro& out) {
  const uint32_t a = load32(packed), b = load32(packed + 4), c = load32(packed + 8);
  const uint32_t scales[2] = {a & 0x3f3f3f3f, (c & kLow4) | ((a >> 6) & kLow2) << 4};
  const uint32_t mins[2] = {b & 0x3f3f3f3f, ((c >> 4) & kLow4) | ((b >> 6) & kLow2) << 4};
  std::memcpy(out.sc, scales, 8), std::memcpy(out.mn, mins, 8);
}

template <bool five>
void read_q45_k(const uint8_t* p, RowMacro& out) {
  out.super_d = load16(p), out.super_m = load16(p + 2);
  k_scales(p + 4, out);
  const uint8_t *high = p + 16, *qs = five ? p + 48 : p + 16;
  for (int b = 0; b < 8; ++b) {
    fill(out.quads[b], [&](int g) {
      const uint32_t low = (load32(qs + 32 * (b / 2) + 4 * g) >> (4 * (b % 2))) & kLow4;
      return five ? low | ((load32(high + 4 * g) >> b) & kLow1) << 4 : low;
    });
  }
}

void read_q6_k(const uint8_t* p, RowMacro& out) {
  for (int b = 0; b < 8; ++b) {
    const int t = b % 4;
    const uint8_t *low = p + 64 * (b / 4) + 32 * (t % 2), *high = p + 128 + 32 * (b / 4);
    fill(out.quads[b], [&](int g) { return ((load32(low + 4 * g) >> (4 * (t / 2))) & kLow4) | ((load32(high + 4 * g) >> (2 * t)) & kLow2) << 4; });
  }
  std::memcpy(out.sc, p + 192, 16);
  out.super_d = load16(p + 208);
}

void read_q2_k(const uint8_t* p, RowMacro& out) {
  for (int s = 0; s < 16; ++s) out.sc[s] = p[s] & 15, out.mn[s] = p[s] >> 4;
  for (int b = 0; b < 8; ++b)
    fill(out.quads[b], [&](int g) { return (load32(p + 16 + 32 * (b / 4) + 4 * g) >> (2 * (b % 4))) & kLow2; });
  out.super_d = load16(p + 80), out.super_m = load16(p + 82);
}

void read_q3_k(const uint8_t* p, RowMacro& out) {
  const uint8_t *hmask = p, *qs = p + 32, *scales = p + 96;
  for (int b = 0; b < 8; ++b)
    fill(out.quads[b], [&](int g) { return ((load32(qs + 32 * (b / 4) + 4 * g) >> (2 * (b % 4))) & kLow2) | ((load32(hmask + 4 * g) >> b) & kLow1) << 2; });
  for (int s = 0; s < 16; ++s) out.sc[s] = uint8_t(int8_t(q3k_scale_of(scales, s)));
  out.super_d = load16(p + 108);
}

void read_iq4_xs(const uint8_t* p, RowMacro& out) {
  const float d = half_to_float(load16(p));
  const uint16_t high = load16(p + 2);
  for (int b = 0; b < 8; ++b) {
    const int scale = ((p[4 + b / 2] >> (4 * (b % 2))) & 15) | (((high >> (2 * b)) & 3) << 4);
    out.f[b] = d * float(scale - 32);
    nibbles32(p + 8 + 16 * b, out.quads[b]);
  }
}

}  // namespace

void read_row_macro(QuantType type, const std::byte* row, int blocks, RowMacro& out) {
  const auto* p = reinterpret_cast<const uint8_t*>(row);
  switch (type) {
    case QuantType::q4_0:
    case QuantType::iq4_nl: return read_small<false, false>(p, blocks, out);
    case QuantType::q4_1: return read_small<true, false>(p, blocks, out);
    case QuantType::q5_0: return read_small<false, true>(p, blocks, out);
    case QuantType::q5_1: return read_small<true, true>(p, blocks, out);
    case QuantType::q8_0: return read_q8_0(p, blocks, out);
    case QuantType::mxfp4: return read_mxfp4(p, blocks, out);
    case QuantType::q4_k: return read_q45_k<false>(p, out);
    case QuantType::q5_k: return read_q45_k<true>(p, out);
    case QuantType::q6_k: return read_q6_k(p, out);
    case QuantType::q2_k: return read_q2_k(p, out);
    case QuantType::q3_k: return read_q3_k(p, out);
    case QuantType::iq4_xs: return read_iq4_xs(p, out);
    default: check_failed("read_row_macro: not a block type", __FILE__, __LINE__);
  }
}

}  // namespace outrider::kernels
