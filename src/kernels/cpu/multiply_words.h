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

  __attribute__((always_inline)) static inline void block(const MacroView& macro, int64_t b, const int32_t* a, typename L::Bytes table, F (&acc)[N]) {
    const BlockCodes<L, codes> codes_of(macro.codes(b), table);
    if constexpr (kHalves) halves(macro, b, codes_of, a, acc);
    else whole(macro, b, codes_of, a, acc);
  }

  // One scale for all 32.
  __attribute__((always_inline)) static inline void whole(const MacroView& macro, int64_t b, const BlockCodes<L, codes>& codes_of, const int32_t* a, F (&acc)[N]) {
    constexpr bool kAllWords = codes == Codes::n4;
    const auto *scale = reinterpret_cast<const float*>(a + 8 * N), *weighed = reinterpret_cast<const float*>(a + 11 * N);
    I first[N];
    const Half low = Half::template of<0>(codes_of);
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) first[c] = kAllWords ? low.dot(a + c) : low.dot_int(a + c);
    const Half high = Half::template of<1>(codes_of);
    const auto d = Base::scale_of(macro, b);
    [[maybe_unused]] F m;
    if constexpr (kHasMin) m = Base::min_of(macro, b);
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) {
      I dot;
      if constexpr (kAllWords) dot = L::join_words(L::add_words(high.dot(a + 4 * N + c), first[c]));
      else dot = L::add_int(high.dot_int(a + 4 * N + c), first[c]);
      acc[c] = L::fma(L::to_float(L::add_int(dot, Base::start(a + 9 * N + c))), L::mul(d, L::set(scale[c])), acc[c]);
      if constexpr (kHasMin) acc[c] = L::fma(m, L::set(weighed[c]), acc[c]);
    }
  }

  // A scale for each 16.
  __attribute__((always_inline)) static inline void halves(const MacroView& macro, int64_t b, const BlockCodes<L, codes>& codes_of, const int32_t* a, F (&acc)[N]) {
    const auto* scale = reinterpret_cast<const float*>(a + 8 * N);
    const int32_t *debt = a + 9 * N, *debt_lo = a + 10 * N;
    F first[N];
    const Half low = Half::template of<0>(codes_of);
    const auto d0 = Base::half_scale(macro, 2 * b);
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) first[c] = L::mul(L::to_float(L::add_int(low.dot_int(a + c), Base::start(debt_lo + c))), d0);
    const Half high = Half::template of<1>(codes_of);
    const auto d1 = Base::half_scale(macro, 2 * b + 1);
    [[maybe_unused]] F m0, m1;
    if constexpr (kHasMin) m0 = Base::half_min(macro, 2 * b), m1 = Base::half_min(macro, 2 * b + 1);
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) {
      const I dot = L::add_int(high.dot_int(a + 4 * N + c), L::sub_int(Base::start(debt + c), Base::start(debt_lo + c)));
      acc[c] = L::fma(L::fma(L::to_float(dot), d1, first[c]), L::set(scale[c]), acc[c]);
      if constexpr (kHasMin) {
        acc[c] = L::fma(m0, L::set(scale[c] * float(-debt_lo[c])), acc[c]);
        acc[c] = L::fma(m1, L::set(scale[c] * float(debt_lo[c] - debt[c])), acc[c]);
      }
    }
  }
};

}  // namespace outrider::kernels::cpu
