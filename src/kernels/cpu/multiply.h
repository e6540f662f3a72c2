#pragma once
// The matrix kernel for any lane type: one pass over a tile feeds every column of a panel (1…8). Order of the sums: scalar/multiply.cpp.
// All templates take the lane type first, so that no two instruction sets ever share an instantiation.
#include "kernels/cpu/multiply_words.h"

namespace outrider::kernels::cpu {

// Writes a tile's results of column c; the last tile may have fewer than 16 rows.
template <class L>
__attribute__((always_inline)) inline void write_tile(typename L::F sum, int64_t tile, int64_t rows, int column, const MatrixOutput& out) {
  const int64_t row = tile * kTileRows;
  float* y = out.values + column * out.stride + row;
  if (rows - row >= kTileRows) {
    if (out.bias) sum = L::add(sum, L::load(out.bias + row));
    if (out.add) sum = L::add(L::load(y), sum);
    return L::store(y, sum);
  }
  float lanes[16];
  L::store(lanes, sum);
  for (int r = 0; r < rows - row; ++r) {
    const float value = out.bias ? lanes[r] + out.bias[row + r] : lanes[r];
    y[r] = out.add ? y[r] + value : value;
  }
}

constexpr int code_bytes(Codes codes) { return codes == Codes::b8 ? 512 : codes == Codes::n6 ? 384 : codes == Codes::n5 ? 320 : 256; }

// A block's codes and the scales' share. Fetching past the end of a matrix does no harm.
template <int level, int bytes>
__attribute__((always_inline)) inline void fetch_block(const std::byte* codes, const std::byte* scales) {
  for (int line = 0; line < bytes; line += 64) __builtin_prefetch(codes + line, 0, level);
  __builtin_prefetch(scales, 0, level);
}

// One panel over blocks [block, end) of a tile, which start at p. sums[N] are read, added to and written back.
template <class L, Codes codes, Scales scales, int N>
__attribute__((noinline)) void panel_kernel(const Matrix& w, const std::byte* p, int64_t block, int64_t end, const int32_t* records, Fetch fetch, typename L::F* sums) {
  const MatrixLayout& layout = w.layout;
  typename L::Bytes table{};
  if constexpr (codes == Codes::n4_table) table = L::table_bytes(w.table);
  typename L::F acc[N];
#pragma GCC unroll 8
  for (int c = 0; c < N; ++c) acc[c] = sums[c];
  for (; block < end; block += kMacroBlocks) {
    const int64_t count = end - block < kMacroBlocks ? end - block : kMacroBlocks;
    const MacroView macro{p, &layout, count};
    for (int64_t b = 0; b < count; ++b) {
      if (fetch.ahead_bytes) {
        const std::byte *codes_ahead = macro.codes(b) + fetch.ahead_bytes, *scales_ahead = p + fetch.ahead_bytes + macro.scale_at() + 64 * b;
        if (fetch.far) fetch_block<2, code_bytes(codes)>(codes_ahead, scales_ahead);
        else fetch_block<3, code_bytes(codes)>(codes_ahead, scales_ahead);
      }
      if constexpr (L::kWordSums) WordKernel<L, codes, scales, N>::block(macro, b, records, table, acc);
      else BlockKernel<L, codes, scales, N>::block(macro, b, records, table, acc);
      records += PanelRecord::words(N);
    }
    p += layout.macro_bytes(count);
  }
#pragma GCC unroll 8
  for (int c = 0; c < N; ++c) sums[c] = acc[c];
}

inline constexpr int kVisitPanels = 16;  // panels whose sums are kept at once; more go in several visits

template <class L, Codes codes, Scales scales>
struct TileVisit {
  using Fn = void (*)(const Matrix&, const std::byte*, int64_t, int64_t, const int32_t*, Fetch, typename L::F*);
  static constexpr Fn kernels[kPanelColumns + 1] = {nullptr,
                                                    panel_kernel<L, codes, scales, 1>, panel_kernel<L, codes, scales, 2>, panel_kernel<L, codes, scales, 3>,
                                                    panel_kernel<L, codes, scales, 4>, panel_kernel<L, codes, scales, 5>, panel_kernel<L, codes, scales, 6>,
                                                    panel_kernel<L, codes, scales, 7>, panel_kernel<L, codes, scales, 8>};
  const Matrix& w;
  const Activations& a;
  const MatrixOutput& out;

  // One panel: tile after tile, the sums stay in registers from end to end.
  void narrow(int64_t begin, int64_t end) const {
    typename L::F sums[kPanelColumns];
    for (int64_t t = begin; t < end; ++t) {
      for (int c = 0; c < a.columns; ++c) sums[c] = L::zero();
      kernels[a.columns](w, w.data + t * w.layout.tile_bytes(), 0, w.layout.blocks(), a.panel(0), w.fetch, sums);
      for (int c = 0; c < a.columns; ++c) write_tile<L>(sums[c], t, w.layout.rows, c, out);
    }
  }

  // Several panels: they take turns at each macro while it is near.
  void wide(int64_t tile, int first, int panels) const {
    const MatrixLayout& layout = w.layout;
    typename L::F sums[kVisitPanels * kPanelColumns];
    for (int c = 0; c < panels * kPanelColumns; ++c) sums[c] = L::zero();
    const std::byte* p = w.data + tile * layout.tile_bytes();
    for (int64_t block = 0; block < layout.blocks(); block += kMacroBlocks) {
      const int64_t stop = block + kMacroBlocks < layout.blocks() ? block + kMacroBlocks : layout.blocks();
      for (int i = 0; i < panels; ++i) {
        const int width = a.panel_width(first + i);
        kernels[width](w, p, block, stop, a.panel(first + i) + block * PanelRecord::words(width), i == 0 && first == 0 ? w.fetch : Fetch{0}, sums + i * kPanelColumns);
      }
      p += layout.macro_bytes(stop - block);
    }
    for (int i = 0; i < panels; ++i)
      for (int c = 0; c < a.panel_width(first + i); ++c) write_tile<L>(sums[i * kPanelColumns + c], tile, layout.rows, a.panel_begin(first + i) + c, out);
  }
};

template <class L, Codes codes, Scales scales>
void multiply_blocks(const Matrix& w, const Activations& a, int64_t begin, int64_t end, const MatrixOutput& out) {
  const TileVisit<L, codes, scales> visit{w, a, out};
  if (a.panel_count() == 1) return visit.narrow(begin, end);
  for (int64_t tile = begin; tile < end; ++tile)
    for (int first = 0; first < a.panel_count(); first += kVisitPanels)
      visit.wide(tile, first, a.panel_count() - first < kVisitPanels ? a.panel_count() - first : kVisitPanels);
}

// Float weights: four sums by k mod 4.
template <class L, Codes codes>
void multiply_floats(const Matrix& w, const Activations& a, int64_t begin, int64_t end, const MatrixOutput& out) {
  const auto weight = [](const std::byte* tile, int64_t k) __attribute__((always_inline)) {
    if constexpr (codes == Codes::f32) return L::load(reinterpret_cast<const float*>(tile) + k * kTileRows);
    else if constexpr (codes == Codes::f16) return L::load_half(tile + k * kTileRows * 2);
    else return L::load_bf16(tile + k * kTileRows * 2);
  };
  for (int64_t t = begin; t < end; ++t) {
    const std::byte* tile = w.data + t * w.layout.tile_bytes();
    for (int c = 0; c < a.columns; ++c) {
      const float* x = a.values + c * a.value_stride;
      typename L::F s[4] = {L::zero(), L::zero(), L::zero(), L::zero()};
      int64_t k = 0;
      for (; k + 4 <= w.layout.columns; k += 4)
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) s[i] = L::fma(weight(tile, k + i), L::set(x[k + i]), s[i]);
      for (int i = 0; k + i < w.layout.columns; ++i) s[i] = L::fma(weight(tile, k + i), L::set(x[k + i]), s[i]);
      write_tile<L>(L::add(L::add(s[0], s[1]), L::add(s[2], s[3])), t, w.layout.rows, c, out);
    }
  }
}

template <class L>
void multiply(const Matrix& w, const Activations& a, int64_t begin, int64_t end, const MatrixOutput& out) {
  switch (w.layout.codes) {
    case Codes::f32: return multiply_floats<L, Codes::f32>(w, a, begin, end, out);
    case Codes::f16: return multiply_floats<L, Codes::f16>(w, a, begin, end, out);
    case Codes::bf16: return multiply_floats<L, Codes::bf16>(w, a, begin, end, out);
    case Codes::b8: return multiply_blocks<L, Codes::b8, Scales::half32>(w, a, begin, end, out);
    case Codes::n6: return multiply_blocks<L, Codes::n6, Scales::super16>(w, a, begin, end, out);
    case Codes::n5:
      if (w.layout.scales == Scales::half32) return multiply_blocks<L, Codes::n5, Scales::half32>(w, a, begin, end, out);
      if (w.layout.scales == Scales::half32_min) return multiply_blocks<L, Codes::n5, Scales::half32_min>(w, a, begin, end, out);
      return multiply_blocks<L, Codes::n5, Scales::super32_min>(w, a, begin, end, out);
    case Codes::n4_table:
      if (w.layout.scales == Scales::half32) return multiply_blocks<L, Codes::n4_table, Scales::half32>(w, a, begin, end, out);
      return multiply_blocks<L, Codes::n4_table, Scales::float32>(w, a, begin, end, out);
    case Codes::n4: break;
  }
  switch (w.layout.scales) {
    case Scales::half32: return multiply_blocks<L, Codes::n4, Scales::half32>(w, a, begin, end, out);
    case Scales::half32_min: return multiply_blocks<L, Codes::n4, Scales::half32_min>(w, a, begin, end, out);
    case Scales::super16: return multiply_blocks<L, Codes::n4, Scales::super16>(w, a, begin, end, out);
    case Scales::super16_min: return multiply_blocks<L, Codes::n4, Scales::super16_min>(w, a, begin, end, out);
    default: return multiply_blocks<L, Codes::n4, Scales::super32_min>(w, a, begin, end, out);
  }
}

}  // namespace outrider::kernels::cpu
