// y[row] = Σ_k W[row][k] · a[k] over quantised blocks, in this order (all kernels):
//
//   for each 32-block, ascending:
//     32-wide scales   acc = fma(float(dot), d·a.scale, acc)           dot = Σ (code − offset)·a.code, exact in int32
//                      with minima: acc = fma(±m, a.weighed, acc)      a.weighed = a.scale·float(Σ a.code)
//     16-wide scales   acc = fma(fma(float(dot1), d1, float(dot0)·d0), a.scale, acc)     0 and 1: the first and the last 16
//                      with minima: acc = fma(−m, a.scale·float(its Σ a.code), acc) for 0, then for 1
//   K-quants: d = d_super·float(sc) and m = −(dmin·float(mn)), each rounded once.
//
// Float matrices: four sums over k ≡ 0…3 (mod 4), then (s0 + s1) + (s2 + s3).
#include <cmath>

#include "base/half.h"
#include "kernels/scalar/scalar.h"
#include "kernels/tile_view.h"

namespace outrider::kernels::scalar {

namespace {

struct Column {  // one column of a panel record
  const int32_t* record;
  int width, index;
  int code(int k) const { return reinterpret_cast<const int8_t*>(record + (k / 4) * width + index)[k % 4]; }
  float scale() const { return reinterpret_cast<const float*>(record)[8 * width + index]; }
  int sum() const { return -record[9 * width + index]; }
  int sum_lo() const { return -record[10 * width + index]; }
  float weighed() const { return reinterpret_cast<const float*>(record)[11 * width + index]; }
};

int weight_code(const Matrix& w, const std::byte* block, int row, int k) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(block);
  const int g = k / 4, byte = row * 4 + k % 4;
  if (w.layout.codes == Codes::b8) return bytes[g * 64 + byte] - w.layout.offset;
  if (w.layout.codes == Codes::n6) {
    const uint8_t* half = bytes + g / 4 * 192 + byte;
    const int spread = (half[0] >> 6) + 4 * (half[64] >> 6) + 16 * (half[128] >> 6);
    return (g % 4 < 3 ? half[g % 4 * 64] & 63 : spread) - w.layout.offset;
  }
  int code = bytes[(g % 4) * 64 + byte];
  code = g < 4 ? code & 15 : code >> 4;
  if (w.layout.codes == Codes::n4_table) return w.table[code];
  if (w.layout.codes == Codes::n5) code |= ((bytes[256 + byte] >> g) & 1) << 4;
  return code - w.layout.offset;
}

float half_at(const std::byte* p, int row) { return half_to_float(reinterpret_cast<const uint16_t*>(p)[row]); }
float u8_at(const std::byte* p, int row) { return float(std::to_integer<uint8_t>(p[row])); }
float i8_at(const std::byte* p, int row) { return float(int8_t(std::to_integer<uint8_t>(p[row]))); }

float add_block(const Matrix& w, const MacroView& m, int64_t block, int row, const Column& a, float acc) {
  int dot[2] = {0, 0};
  for (int k = 0; k < 32; ++k) dot[k / 16] += weight_code(w, m.codes(block), row, k) * a.code(k);
  const float both = float(dot[0] + dot[1]);
  switch (w.layout.scales) {
    case Scales::half32: return std::fma(both, half_at(m.block_scale(block), row) * a.scale(), acc);
    case Scales::half32_min:
      acc = std::fma(both, half_at(m.block_scale(block), row) * a.scale(), acc);
      return std::fma(half_at(m.block_scale(block, true), row), a.weighed(), acc);
    case Scales::float32: return std::fma(both, reinterpret_cast<const float*>(m.block_scale(block))[row] * a.scale(), acc);
    case Scales::super32_min: {
      const float d = half_at(m.super_scale(), row) * u8_at(m.sub_scale(block), row);
      const float minimum = half_at(m.super_scale(true), row) * u8_at(m.sub_scale(block, true), row);
      return std::fma(-minimum, a.weighed(), std::fma(both, d * a.scale(), acc));
    }
    default: break;
  }
  const bool has_min = w.layout.scales == Scales::super16_min;
  float d[2];
  for (int h = 0; h < 2; ++h) {
    const std::byte* sc = m.sub_scale(2 * block + h);
    d[h] = half_at(m.super_scale(), row) * (has_min ? u8_at(sc, row) : i8_at(sc, row));
  }
  acc = std::fma(std::fma(float(dot[1]), d[1], float(dot[0]) * d[0]), a.scale(), acc);
  for (int h = 0; has_min && h < 2; ++h) {
    const float minimum = half_at(m.super_scale(true), row) * u8_at(m.sub_scale(2 * block + h, true), row);
    acc = std::fma(-minimum, a.scale() * float(h == 0 ? a.sum_lo() : a.sum() - a.sum_lo()), acc);
  }
  return acc;
}

float weight_float(const MatrixLayout& layout, const std::byte* tile, int64_t k, int row) {
  const int64_t i = k * kTileRows + row;
  if (layout.codes == Codes::f32) return reinterpret_cast<const float*>(tile)[i];
  const uint16_t bits = reinterpret_cast<const uint16_t*>(tile)[i];
  return layout.codes == Codes::f16 ? half_to_float(bits) : bf16_to_float(bits);
}

float float_dot(const MatrixLayout& layout, const std::byte* tile, int row, const float* x) {
  float s[4] = {0, 0, 0, 0};
  for (int64_t k = 0; k < layout.columns; ++k) s[k % 4] = std::fma(weight_float(layout, tile, k, row), x[k], s[k % 4]);
  return (s[0] + s[1]) + (s[2] + s[3]);
}

float block_dot(const Matrix& w, const std::byte* tile, int row, const Activations& a, int column) {
  const int panel = a.panel_of(column), width = a.panel_width(panel);
  const int32_t* records = a.panel(panel);
  float acc = 0;
  for_each_macro(w.layout, tile, [&](const MacroView& macro, int64_t first) {
    for (int64_t b = 0; b < macro.blocks; ++b)
      acc = add_block(w, macro, b, row, Column{records + (first + b) * PanelRecord::words(width), width, column - a.panel_begin(panel)}, acc);
  });
  return acc;
}

}  // namespace

void multiply(const Matrix& w, const Activations& a, int64_t tile_begin, int64_t tile_end, const MatrixOutput& out) {
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const std::byte* tile = w.data + t * w.layout.tile_bytes();
    for (int c = 0; c < a.columns; ++c) {
      for (int r = 0; r < kTileRows && t * kTileRows + r < w.layout.rows; ++r) {
        const int64_t row = t * kTileRows + r;
        float& y = out.values[c * out.stride + row];
        const float sum = w.layout.is_float() ? float_dot(w.layout, tile, r, a.values + c * a.value_stride) : block_dot(w, tile, r, a, c);
        const float value = out.bias ? sum + out.bias[row] : sum;
        y = out.add ? y + value : value;
      }
    }
  }
}

}  // namespace outrider::kernels::scalar
