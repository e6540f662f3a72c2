// GGUF rows → tiles, and one row of a tile back to floats (embeddings share the output matrix's storage).
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/half.h"
#include "kernels/row_macro.h"
#include "kernels/tile_view.h"

namespace outrider::kernels {

namespace {

template <class T>
T* at(std::byte* p) { return reinterpret_cast<T*>(p); }

template <Codes codes>
void pack_block(const uint32_t (&quads)[8], uint32_t* words) {  // words of one row: 16 apart
  if (codes == Codes::b8) {
    for (int g = 0; g < 8; ++g) words[g * 16] = quads[g];
    return;
  }
  if (codes == Codes::n6) {  // of four quads the last is spread over the tops of the others
    for (int half = 0; half < 2; ++half)
      for (int g = 0; g < 3; ++g) words[(3 * half + g) * 16] = quads[4 * half + g] | ((quads[4 * half + 3] >> (2 * g)) & 0x03030303) << 6;
    return;
  }
  uint32_t high = 0;
  for (int g = 0; g < 4; ++g) {
    const uint32_t lo = quads[g], hi = quads[g + 4];
    words[g * 16] = (lo & 0x0f0f0f0f) | ((hi & 0x0f0f0f0f) << 4);
    if (codes == Codes::n5) high |= ((lo >> 4) & 0x01010101) << g | ((hi >> 4) & 0x01010101) << (g + 4);
  }
  if (codes == Codes::n5) words[64] = high;
}

template <Codes codes>
void pack_row_codes(const RowMacro& m, const MacroView& view, int row) {
  for (int64_t b = 0; b < view.blocks; ++b) pack_block<codes>(m.quads[b], at<uint32_t>(const_cast<std::byte*>(view.codes(b))) + row);
}

void pack_codes(const RowMacro& m, const MacroView& view, int row) {
  switch (view.layout->codes) {
    case Codes::n5: return pack_row_codes<Codes::n5>(m, view, row);
    case Codes::n6: return pack_row_codes<Codes::n6>(m, view, row);
    case Codes::b8: return pack_row_codes<Codes::b8>(m, view, row);
    default: return pack_row_codes<Codes::n4>(m, view, row);
  }
}

void pack_scales(const RowMacro& m, const MacroView& view, int row) {
  const auto put = [&](const std::byte* p, auto value) {
    std::memcpy(const_cast<std::byte*>(p) + row * sizeof(value), &value, sizeof(value));
  };
  const Scales scales = view.layout->scales;
  if (scales == Scales::half32 || scales == Scales::half32_min || scales == Scales::float32) {
    for (int64_t b = 0; b < view.blocks; ++b) {
      if (scales == Scales::float32) put(view.block_scale(b), m.f[b]);
      else put(view.block_scale(b), m.d[b]);
      if (scales == Scales::half32_min) put(view.block_scale(b, true), m.m[b]);
    }
    return;
  }
  const int64_t subs = scales == Scales::super32_min ? view.blocks : 2 * view.blocks;
  const bool has_min = scales != Scales::super16;
  for (int64_t s = 0; s < subs; ++s) {
    put(view.sub_scale(s), m.sc[s]);
    if (has_min) put(view.sub_scale(s, true), m.mn[s]);
  }
  put(view.super_scale(), m.super_d);
  if (has_min) put(view.super_scale(true), m.super_m);
}

// In runs of k that stay in the nearest cache.
template <class T>
void pack_float_tile(const MatrixLayout& layout, const std::byte* rows, int64_t row_bytes, int row_count, std::byte* tile) {
  constexpr int64_t kRun = 128;
  for (int64_t first = 0; first < layout.columns; first += kRun) {
    const int64_t end = std::min(first + kRun, layout.columns);
    for (int r = 0; r < row_count; ++r)
      for (int64_t k = first; k < end; ++k) std::memcpy(tile + (k * kTileRows + r) * int64_t(sizeof(T)), rows + r * row_bytes + k * int64_t(sizeof(T)), sizeof(T));
  }
}

int unpacked_code(const MatrixLayout& layout, const std::byte* block, int row, int k) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(block);
  const int g = k / 4, j = k % 4;
  if (layout.codes == Codes::b8) return bytes[g * 64 + row * 4 + j];
  if (layout.codes == Codes::n6) {
    const auto* vectors = bytes + (g / 4) * 192 + row * 4 + j;
    return g % 4 < 3 ? vectors[(g % 4) * 64] & 63 : (vectors[0] >> 6) | (vectors[64] >> 6) << 2 | (vectors[128] >> 6) << 4;
  }
  int code = bytes[(g & 3) * 64 + row * 4 + j];
  code = g < 4 ? code & 15 : code >> 4;
  if (layout.codes == Codes::n5) code |= ((bytes[256 + row * 4 + j] >> g) & 1) << 4;
  return code;
}

float half_at(const std::byte* p, int row) { return half_to_float(reinterpret_cast<const uint16_t*>(p)[row]); }
float float_at(const std::byte* p, int row) { return reinterpret_cast<const float*>(p)[row]; }

// Scale and minimum of the 16 weights `half` (0, 1) of a block, as the format's own decoding computes them.
void block_scale(const MacroView& view, int64_t block, int half, int row, float& scale, float& min) {
  min = 0;
  const auto byte_at = [row](const std::byte* p) { return std::to_integer<uint8_t>(p[row]); };
  switch (view.layout->scales) {
    case Scales::half32: scale = half_at(view.block_scale(block), row); break;
    case Scales::half32_min: scale = half_at(view.block_scale(block), row), min = -half_at(view.block_scale(block, true), row); break;
    case Scales::float32: scale = float_at(view.block_scale(block), row); break;
    case Scales::super16: scale = half_at(view.super_scale(), row) * float(int8_t(byte_at(view.sub_scale(2 * block + half)))); break;
    default: {
      const int64_t sub = view.layout->scales == Scales::super32_min ? block : 2 * block + half;
      scale = half_at(view.super_scale(), row) * float(byte_at(view.sub_scale(sub)));
      min = half_at(view.super_scale(true), row) * float(byte_at(view.sub_scale(sub, true)));
    }
  }
}

}  // namespace

void pack_tile(const MatrixLayout& layout, const std::byte* rows, int64_t row_bytes, int row_count, std::byte* tile) {
  if (row_count < kTileRows || layout.is_float()) std::memset(tile, 0, size_t(layout.tile_bytes()));
  if (layout.codes == Codes::f32) return pack_float_tile<float>(layout, rows, row_bytes, row_count, tile);
  if (layout.is_float()) return pack_float_tile<uint16_t>(layout, rows, row_bytes, row_count, tile);
  const TypeTraits& type = traits(layout.type);
  RowMacro macro;
  for_each_macro(layout, tile, [&](const MacroView& view, int64_t first) {
    const int64_t offset = first * kBlockElements / type.block_elements * type.block_bytes;
    for (int r = 0; r < row_count; ++r) {
      read_row_macro(layout.type, rows + r * row_bytes + offset, int(view.blocks), macro);
      pack_codes(macro, view, r);
      pack_scales(macro, view, r);
    }
  });
}

void unpack_row(const Matrix& matrix, int64_t row, float* out) {
  const MatrixLayout& layout = matrix.layout;
  const std::byte* tile = matrix.data + row / kTileRows * layout.tile_bytes();
  const int r = int(row % kTileRows);
  if (layout.is_float()) {
    for (int64_t k = 0; k < layout.columns; ++k) {
      const std::byte* p = tile + k * kTileRows * (layout.codes == Codes::f32 ? 4 : 2);
      const uint16_t bits = layout.codes == Codes::f32 ? 0 : reinterpret_cast<const uint16_t*>(p)[r];
      out[k] = layout.codes == Codes::f32 ? float_at(p, r) : layout.codes == Codes::f16 ? half_to_float(bits) : bf16_to_float(bits);
    }
    return;
  }
  const bool additive = layout.scales == Scales::half32_min;  // d·code + m, in that order
  for_each_macro(layout, tile, [&](const MacroView& view, int64_t first) {
    for (int64_t b = 0; b < view.blocks; ++b) {
      for (int k = 0; k < 32 && (first + b) * 32 + k < layout.columns; ++k) {
        float scale, min;
        block_scale(view, b, k / 16, r, scale, min);
        const int code = unpacked_code(layout, view.codes(b), r, k);
        const int value = layout.codes == Codes::n4_table ? matrix.table[code] : code - layout.offset;
        const float product = scale * float(value);
        out[(first + b) * 32 + k] = additive ? product + -min : min != 0 ? product - min : product;
      }
    }
  });
}

}  // namespace outrider::kernels
