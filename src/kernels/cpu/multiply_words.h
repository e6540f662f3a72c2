#pragma once
// One 32-block for lane types without integer dots that add: sums of products stay 16-bit words as long as they fit.
#include "kernels/cpu/multiply_block.h"

namespace outrider::kernels::cpu {

// Sixteen of k at a time: their codes, unpacked, stay in registers while column after column meets them, and what a column has of the first
// half waits in memory. So nothing but one column's sums needs a register, with any number of columns.
// A word holds products of two k. |activation| ≤ 127, so words of a half can be added: 4·2·127·31 < 2¹⁵, and of both with 4-bit codes.
template <class L, Codes codes, Scales scales, int N>
struct WordKernel : BlockKernel<L, codes, scales, N> {
  using Base = BlockKernel<L, codes, scales, N>;
  using Base::kHalves, Base::kSigned;
  using I = typename L::I;
  using F = typename L::F;
  static constexpr bool kHasMin = scales == Scales::half32_min || scales == Scales::super32_min || scales == Scales::super16_min;

  struct Half {  // vectors 4h … 4h+3
    typename L::Bytes x[4];
    template <int h>
    __attribute__((always_inline)) static inline Half of(const BlockCodes<L, codes>& block) {
      return {{block.template vector<4 * h>(), block.template vector<4 * h + 1>(), block.template vector<4 * h + 2>(), block.template vector<4 * h + 3>()}};
    }

    // Σ code · a over the half for the column whose words begin at a: as words where kWords, else as 32-bit sums.
    static constexpr bool kWords = codes == Codes::n4 || codes == Codes::n5;
    __attribute__((always_inline)) inline I dot(const int32_t* a) const {
      if constexpr (kSigned) {
        return L::dot_signed(L::dot_signed(L::dot_signed(L::dot_signed(L::zero_int(), x[0], a), x[1], a + N), x[2], a + 2 * N), x[3], a + 3 * N);
      } else {
        const I first = L::add_words(L::word_sums(x[0], a), L::word_sums(x[1], a + N));
        if constexpr (kWords) return L::add_words(L::add_words(first, L::word_sums(x[2], a + 2 * N)), L::word_sums(x[3], a + 3 * N));
        else return L::add_int(L::join_words(first), L::join_words(L::add_words(L::word_sums(x[2], a + 2 * N), L::word_sums(x[3], a + 3 * N))));
      }
    }
    __attribute__((always_inline)) inline I dot_int(const int32_t* a) const {
      if constexpr (kWords) return L::join_words(dot(a));
      else return dot(a);
    }
  };

  using Super = typename Base::Super;
  __attribute__((always_inline)) static inline void block(const MacroView& macro, const Super& super, int64_t b, PanelView panel, typename L::Bytes table, const Ahead<codes>& ahead, F (&acc)[N]) {
    // A block's lines are asked for at its start; the even spread between dots is BlockKernel's.
    ahead.template fetch<0>(), ahead.template fetch<1>(), ahead.template fetch<2>(), ahead.template fetch<3>();
    const BlockCodes<L, codes> codes_of(macro.codes(b), table);
    if constexpr (kHalves) halves(macro, super, b, codes_of, panel, acc);
    else whole(macro, super, b, codes_of, panel, acc);
  }

  // One scale for all 32.
  __attribute__((always_inline)) static inline void whole(const MacroView& macro, const Super& super, int64_t b, const BlockCodes<L, codes>& codes_of, PanelView panel, F (&acc)[N]) {
    const int32_t* a = panel.codes;
    constexpr bool kAllWords = codes == Codes::n4;
    const auto* scale = reinterpret_cast<const float*>(a + PanelRecord::kScale * N);
    I first[N];
    const Half low = Half::template of<0>(codes_of);
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) first[c] = kAllWords ? low.dot(a + c) : low.dot_int(a + c);
    const Half high = Half::template of<1>(codes_of);
    const auto d = Base::scale_of(macro, super, b), origin = L::mul(d, L::set(-kSumStartValue));
    [[maybe_unused]] F m;
    if constexpr (kHasMin) m = Base::minima_of(macro, super, b);
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) {
      I dot;
      if constexpr (kAllWords) dot = L::join_words(L::add_words(high.dot(a + 4 * N + c), first[c]));
      else dot = L::add_int(high.dot_int(a + 4 * N + c), first[c]);
      acc[c] = L::fma(L::fma(L::as_float(L::add_int(dot, Base::template start<0>(panel.starts, c))), d, origin), L::set(scale[c]), acc[c]);
      if constexpr (kHasMin) acc[c] = Base::add_minimum(m, panel, c, acc[c]);
    }
  }

  // A scale for each 16.
  __attribute__((always_inline)) static inline void halves(const MacroView& macro, const Super& super, int64_t b, const BlockCodes<L, codes>& codes_of, PanelView panel, F (&acc)[N]) {
    const int32_t* a = panel.codes;
    const auto* scale = reinterpret_cast<const float*>(a + PanelRecord::kScale * N);
    F first[N];
    const Half low = Half::template of<0>(codes_of);
    const auto d0 = Base::half_scale(macro, super, 2 * b), d1 = Base::half_scale(macro, super, 2 * b + 1), origin = L::mul(L::add(d0, d1), L::set(-kSumStartValue));
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) first[c] = L::fma(L::as_float(L::add_int(low.dot_int(a + c), Base::template start<0>(panel.starts, c))), d0, origin);
    const Half high = Half::template of<1>(codes_of);
    [[maybe_unused]] F m0, m1;
    if constexpr (kHasMin) m0 = Base::half_min(macro, super, 2 * b), m1 = Base::half_min(macro, super, 2 * b + 1);
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) {
      const I sum = L::add_int(high.dot_int(a + 4 * N + c), Base::template start<1>(panel.starts, c));
      acc[c] = L::fma(L::fma(L::as_float(sum), d1, first[c]), L::set(scale[c]), acc[c]);
      if constexpr (kHasMin) acc[c] = Base::add_half_minima(m0, m1, panel, c, acc[c]);
    }
  }
};

}  // namespace outrider::kernels::cpu
