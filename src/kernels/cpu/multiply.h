#pragma once
// The matrix kernel for any lane type: one pass over a tile feeds every column of a panel (1…8). Order of the sums: scalar/multiply.cpp.
// All templates take the lane type first, so that no two instruction sets ever share an instantiation.
#include <type_traits>

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

// Who meets a tile fetches what comes ahead.far_bytes later: all of it, or, when several panels meet it in turns, each of them every
// `every`-th block, from block `first` on. Fetching past the end of a matrix does no harm.
struct FetchShare {
  Fetch ahead;
  int first = 0, every = 1;
};

// One panel over a tile: its sums stay in registers from end to end, then go to sums[N].
template <class L, Codes codes, Scales scales, int N>
__attribute__((noinline)) void panel_kernel(const Matrix& w, const std::byte* p, PanelView panel, FetchShare share, typename L::F* sums) {
  const MatrixLayout& layout = w.layout;
  int until_fetch = share.first;
  typename L::Bytes table{};
  if constexpr (codes == Codes::n4_table) table = L::table_bytes(w.table);
  typename L::F acc[N];
#pragma GCC unroll 8
  for (int c = 0; c < N; ++c) acc[c] = L::zero();
  for (int64_t left = layout.blocks(); left > 0; left -= kMacroBlocks) {
    const int64_t count = left < kMacroBlocks ? left : kMacroBlocks;
    const MacroView macro{p, &layout, count};
    using Kernel = std::conditional_t<L::kWordSums, WordKernel<L, codes, scales, N>, BlockKernel<L, codes, scales, N>>;
    const auto super = Kernel::super_of(macro);
    for (int64_t b = 0; b < count; ++b) {
      const std::byte* share_of_block = p + 64 * Ahead<codes>::kLines * b;
      Ahead<codes> ahead{nullptr, share.ahead.near_bytes ? share_of_block + share.ahead.near_bytes : nullptr};
      if (--until_fetch < 0) {
        until_fetch = share.every - 1;
        if (share.ahead.far_bytes) ahead.far = share_of_block + share.ahead.far_bytes;
      }
      Kernel::block(macro, super, b, panel, table, ahead, acc);
      panel.codes += PanelRecord::words(N), panel.starts += PanelStarts::words(N);
    }
    p += layout.macro_bytes(count);
  }
#pragma GCC unroll 8
  for (int c = 0; c < N; ++c) sums[c] = acc[c];
}

// Tile after tile; of several panels the first brings a tile near, and the others find it there. Then there is time enough to fetch the
// whole next tile.
template <class L, Codes codes, Scales scales>
void multiply_blocks(const Matrix& w, const Activations& a, int64_t begin, int64_t end, const MatrixOutput& out) {
  static constexpr decltype(&panel_kernel<L, codes, scales, 1>) kKernels[kPanelColumns + 1] = {
      nullptr,
      panel_kernel<L, codes, scales, 1>, panel_kernel<L, codes, scales, 2>, panel_kernel<L, codes, scales, 3>, panel_kernel<L, codes, scales, 4>,
      panel_kernel<L, codes, scales, 5>, panel_kernel<L, codes, scales, 6>, panel_kernel<L, codes, scales, 7>, panel_kernel<L, codes, scales, 8>};
  const int panels = a.panel_count();
  const int64_t tile_bytes = w.layout.tile_bytes();
  const int32_t far_bytes = panels == 1 || w.fetch.far_bytes == 0 ? w.fetch.far_bytes : int32_t(tile_bytes);
  typename L::F sums[kPanelColumns];
  for (int64_t tile = begin; tile < end; ++tile) {
    for (int p = 0; p < panels; ++p) {
      const int width = a.panel_width(p), column = a.panel_begin(p);
      kKernels[width](w, w.data + tile * tile_bytes, {a.panel(p), a.starts(p)}, {{far_bytes, p == 0 ? w.fetch.near_bytes : 0}, p, panels}, sums);
      for (int c = 0; c < width; ++c) write_tile<L>(sums[c], tile, w.layout.rows, column + c, out);
    }
  }
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

constexpr OUTRIDER_ALWAYS_INLINE int pair_of(Codes codes, Scales scales) { return int(codes) * 16 + int(scales); }

template <class L>
void multiply(const Matrix& w, const Activations& a, int64_t begin, int64_t end, const MatrixOutput& out) {
  switch (pair_of(w.layout.codes, w.layout.scales)) {
    case pair_of(Codes::f32, Scales::none): return multiply_floats<L, Codes::f32>(w, a, begin, end, out);
    case pair_of(Codes::f16, Scales::none): return multiply_floats<L, Codes::f16>(w, a, begin, end, out);
    case pair_of(Codes::bf16, Scales::none): return multiply_floats<L, Codes::bf16>(w, a, begin, end, out);
    case pair_of(Codes::b8, Scales::half32): return multiply_blocks<L, Codes::b8, Scales::half32>(w, a, begin, end, out);
    case pair_of(Codes::n6, Scales::super16): return multiply_blocks<L, Codes::n6, Scales::super16>(w, a, begin, end, out);
    case pair_of(Codes::n5, Scales::half32): return multiply_blocks<L, Codes::n5, Scales::half32>(w, a, begin, end, out);
    case pair_of(Codes::n5, Scales::half32_min): return multiply_blocks<L, Codes::n5, Scales::half32_min>(w, a, begin, end, out);
    case pair_of(Codes::n5, Scales::super32_min): return multiply_blocks<L, Codes::n5, Scales::super32_min>(w, a, begin, end, out);
    case pair_of(Codes::n4_table, Scales::half32): return multiply_blocks<L, Codes::n4_table, Scales::half32>(w, a, begin, end, out);
    case pair_of(Codes::n4_table, Scales::float32): return multiply_blocks<L, Codes::n4_table, Scales::float32>(w, a, begin, end, out);
    case pair_of(Codes::n4, Scales::half32): return multiply_blocks<L, Codes::n4, Scales::half32>(w, a, begin, end, out);
    case pair_of(Codes::n4, Scales::half32_min): return multiply_blocks<L, Codes::n4, Scales::half32_min>(w, a, begin, end, out);
    case pair_of(Codes::n4, Scales::super16): return multiply_blocks<L, Codes::n4, Scales::super16>(w, a, begin, end, out);
    case pair_of(Codes::n4, Scales::super16_min): return multiply_blocks<L, Codes::n4, Scales::super16_min>(w, a, begin, end, out);
    case pair_of(Codes::n4, Scales::super32_min): return multiply_blocks<L, Codes::n4, Scales::super32_min>(w, a, begin, end, out);
    default: no_kernel_for(w.layout);
  }
}

}  // namespace outrider::kernels::cpu
