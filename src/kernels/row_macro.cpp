#include "kernels/row_macro.h"

#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/half.h"
#include "quant/blocks.h"

namespace outrider::kernels {

namespace {

uint16_t load16(const uint8_t* p) { return uint16_t(p[0] | p[1] << 8); }

void nibbles32(const uint8_t* qs, uint8_t* codes) {
  for (int i = 0; i < 16; ++i) codes[i] = qs[i] & 15, codes[i + 16] = qs[i] >> 4;
}

// Eight codes at a time: bit i of the byte goes to byte i, whatever place it takes there, and from there to bit 4.
void fifth_bits(const uint8_t* qh, uint8_t* codes) {
  for (int b = 0; b < 4; ++b) {
    const uint64_t spread = (qh[b] * 0x0101010101010101u) & 0x8040201008040201u;
    uint64_t eight;
    std::memcpy(&eight, codes + 8 * b, 8);
    eight |= ((spread + 0x7f7f7f7f7f7f7f7fu) & 0x8080808080808080u) >> 3;  // no byte carries into the next
    std::memcpy(codes + 8 * b, &eight, 8);
  }
}

// Q4_0 Q4_1 Q5_0 Q5_1 IQ4_NL: d, maybe m, maybe four bytes of fifth bits, then nibbles.
void read_small(const uint8_t* p, int blocks, bool has_min, bool five, RowMacro& out) {
  for (int b = 0; b < blocks; ++b) {
    out.d[b] = load16(p), p += 2;
    if (has_min) out.m[b] = load16(p), p += 2;
    const uint8_t* high = p;
    if (five) p += 4;
    nibbles32(p, out.codes + 32 * b), p += 16;
    if (five) fifth_bits(high, out.codes + 32 * b);
  }
}

void read_q8_0(const uint8_t* p, int blocks, RowMacro& out) {
  for (int b = 0; b < blocks; ++b, p += 34) {
    out.d[b] = load16(p);
    for (int i = 0; i < 32; ++i) out.codes[32 * b + i] = p[2 + i] ^ 0x80;
  }
}

void read_mxfp4(const uint8_t* p, int blocks, RowMacro& out) {
  for (int b = 0; b < blocks; ++b, p += 17) {
    // 2^(e−128): half of the format's 2^(e−127), since the table holds doubled values. e = 0, 1 give subnormals.
    out.f[b] = p[0] > 1 ? std::bit_cast<float>(uint32_t(p[0] - 1) << 23) : std::bit_cast<float>(0x200000u << p[0]);
    nibbles32(p + 1, out.codes + 32 * b);
  }
}

void k_scales(const uint8_t* packed, RowMacro& out) {
  for (int s = 0; s < 8; ++s) {
    const ScaleMin sm = scale_min_of(packed, s);
    out.sc[s] = uint8_t(sm.scale), out.mn[s] = uint8_t(sm.min);
  }
}

void read_q45_k(const uint8_t* p, bool five, RowMacro& out) {
  out.super_d = load16(p), out.super_m = load16(p + 2);
  k_scales(p + 4, out);
  const uint8_t* high = p + 16;
  const uint8_t* qs = five ? p + 48 : p + 16;
  for (int pair = 0; pair < 4; ++pair) {
    uint8_t* lo = out.codes + 64 * pair;
    for (int i = 0; i < 32; ++i) lo[i] = qs[32 * pair + i] & 15, lo[i + 32] = qs[32 * pair + i] >> 4;
    if (!five) continue;
    for (int i = 0; i < 32; ++i) {
      lo[i] |= uint8_t(((high[i] >> (2 * pair)) & 1) << 4);
      lo[i + 32] |= uint8_t(((high[i] >> (2 * pair + 1)) & 1) << 4);
    }
  }
}

void read_q6_k(const uint8_t* p, RowMacro& out) {
  const uint8_t *ql = p, *qh = p + 128;
  for (int n = 0; n < 2; ++n)
    for (int t = 0; t < 4; ++t)
      for (int l = 0; l < 32; ++l)
        out.codes[128 * n + 32 * t + l] =
            uint8_t(((ql[64 * n + l + 32 * (t & 1)] >> (4 * (t >> 1))) & 15) | (((qh[32 * n + l] >> (2 * t)) & 3) << 4));
  std::memcpy(out.sc, p + 192, 16);
  out.super_d = load16(p + 208);
}

void read_q2_k(const uint8_t* p, RowMacro& out) {
  for (int s = 0; s < 16; ++s) out.sc[s] = p[s] & 15, out.mn[s] = p[s] >> 4;
  for (int i = 0; i < 256; ++i) out.codes[i] = (p[16 + 32 * (i / 128) + i % 32] >> (2 * ((i % 128) / 32))) & 3;
  out.super_d = load16(p + 80), out.super_m = load16(p + 82);
}

void read_q3_k(const uint8_t* p, RowMacro& out) {
  const uint8_t *hmask = p, *qs = p + 32, *scales = p + 96;
  for (int i = 0; i < 256; ++i) {
    const int n = i / 128, j = (i % 128) / 32, l = i % 32;
    out.codes[i] = uint8_t(((qs[32 * n + l] >> (2 * j)) & 3) | (((hmask[l] >> (4 * n + j)) & 1) << 2));
  }
  for (int s = 0; s < 16; ++s) out.sc[s] = uint8_t(int8_t(q3k_scale_of(scales, s)));
  out.super_d = load16(p + 108);
}

void read_iq4_xs(const uint8_t* p, RowMacro& out) {
  const float d = half_to_float(load16(p));
  const uint16_t high = load16(p + 2);
  for (int b = 0; b < 8; ++b) {
    const int scale = ((p[4 + b / 2] >> (4 * (b % 2))) & 15) | (((high >> (2 * b)) & 3) << 4);
    out.f[b] = d * float(scale - 32);
    nibbles32(p + 8 + 16 * b, out.codes + 32 * b);
  }
}

}  // namespace

void read_row_macro(QuantType type, const std::byte* row, int blocks, RowMacro& out) {
  const auto* p = reinterpret_cast<const uint8_t*>(row);
  switch (type) {
    case QuantType::q4_0:
    case QuantType::iq4_nl: return read_small(p, blocks, false, false, out);
    case QuantType::q4_1: return read_small(p, blocks, true, false, out);
    case QuantType::q5_0: return read_small(p, blocks, false, true, out);
    case QuantType::q5_1: return read_small(p, blocks, true, true, out);
    case QuantType::q8_0: return read_q8_0(p, blocks, out);
    case QuantType::mxfp4: return read_mxfp4(p, blocks, out);
    case QuantType::q4_k: return read_q45_k(p, false, out);
    case QuantType::q5_k: return read_q45_k(p, true, out);
    case QuantType::q6_k: return read_q6_k(p, out);
    case QuantType::q2_k: return read_q2_k(p, out);
    case QuantType::q3_k: return read_q3_k(p, out);
    case QuantType::iq4_xs: return read_iq4_xs(p, out);
    default: check_failed("read_row_macro: not a block type", __FILE__, __LINE__);
  }
}

}  // namespace outrider::kernels
