// y[row] = Σ_k W[row][k] · a[k] over quantised blocks, in this order (all kernels):
//
//   for each 32-block, ascending:                                      sum = 1.5·2²³ + dot, dot = Σ (code − offset)·a.code, both exact
//     32-wide scales   acc = fma(fma(sum, d, −1.5·2²³·d), a.scale, acc)       the inner one is d·dot, rounded once
//                      with minima: acc = fma(+m, a.weighed, acc) for half32_min, fma(−m, …) for K-quants; a.weighed = a.scale·float(Σ a.code)
//     16-wide scales   acc = fma(fma(sum1, d1, fma(sum0, d0, −1.5·2²³·(d0 + d1))), a.scale, acc)   0 and 1: the first and the last 16;
//                      d0·dot0 is rounded to half a unit of dot1, which an activation's rounding outweighs many times
//                      with minima: acc = fma(−m, a.scale·float(its Σ a.code), acc) for 0, then for 1
//   K-quants: d = d_super·float(sc) and m = dmin·float(mn), both exact.
//
// Float matrices: four sums over k ≡ 0…3 (mod 4), then (s0 + s1) + (s2 + s3).
#include <cmath>

#include "base/half.h"
#include "kernels/scalar/scalar.h"
#include "kernels/tile_view.h"

namespace outrider::kernels::scalar {

namespace {

struct Column {  // one column of a panel record
  const int32_t *record, *starts;
  int width, index;
  int code(int k) const { return reinterpret_cast<const int8_t*>(record + (k / 4) * width + index)[k % 4]; }
  float scale() const { return reinterpret_cast<const float*>(record)[PanelRecord::kScale * width + index]; }
  float weighed() const { return reinterpret_cast<const float*>(record)[PanelRecord::kWeighed * width + index]; }
  int half_sum(int half) const { return (kSumStart - starts[(PanelStarts::kStart32 + half) * width + index]) / 32; }
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

float scaled(float start, int dot, float d) { return std::fma(kSumStartValue + float(dot), d, start); }

float add_block(const Matrix& w, const MacroView& m, int64_t block, int row, const Column& a, float acc) {
  int dot[2] = {0, 0};
  for (int k = 0; k < 32; ++k) dot[k / 16] += weight_code(w, m.codes(block), row, k) * a.code(k);
  const auto whole = [&](float scale) { return std::fma(scaled(-(kSumStartValue * scale), dot[0] + dot[1], scale), a.scale(), acc); };
  switch (w.layout.scales) {
    case Scales::half32: return whole(half_at(m.block_scale(block), row));
    case Scales::half32_min: return std::fma(half_at(m.block_scale(block, true), row), a.weighed(), whole(half_at(m.block_scale(block), row)));
    case Scales::float32: return whole(reinterpret_cast<const float*>(m.block_scale(block))[row]);
    case Scales::super32_min: {
      const float minimum = half_at(m.super_scale(true), row) * u8_at(m.sub_scale(block, true), row);
      return std::fma(-minimum, a.weighed(), whole(half_at(m.super_scale(), row) * u8_at(m.sub_scale(block), row)));
    }
    default: break;
  }
  const bool has_min = w.layout.scales == Scales::super16_min;
  float d[2];
  for (int h = 0; h < 2; ++h) {
    const std::byte* sc = m.sub_scale(2 * block + h);
    d[h] = half_at(m.super_scale(), row) * (has_min ? u8_at(sc, row) : i8_at(sc, row));
  }
  acc = std::fma(scaled(scaled(-(kSumStartValue * (d[0] + d[1])), dot[0], d[0]), dot[1], d[1]), a.scale(), acc);
  for (int h = 0; has_min && h < 2; ++h) {
    const float minimum = half_at(m.super_scale(true), row) * u8_at(m.sub_scale(2 * block + h, true), row);
    acc = std::fma(-minimum, a.scale() * float(a.half_sum(h)), acc);
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
  const int32_t *records = a.panel(panel), *starts = a.starts(panel);
  float acc = 0;
  for_each_macro(w.layout, tile, [&](const MacroView& macro, int64_t first) {
    for (int64_t b = 0; b < macro.blocks; ++b)
      acc = add_block(w, macro, b, row, Column{records + (first + b) * PanelRecord::words(width), starts + (first + b) * PanelStarts::words(width), width, column - a.panel_begin(panel)}, acc);
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
