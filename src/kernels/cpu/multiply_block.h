#pragma once
// One 32-block of a tile meets the columns of a panel: unpacking, dots, scales. For lane types whose dots add into the sum they are given.
#include "kernels/kernels.h"
#include "kernels/tile_view.h"

namespace outrider::kernels::cpu {

template <class L, Codes codes>
struct BlockCodes {  // vector g (k = 4g…4g+3 of 16 rows) of one block
  const std::byte* p;
  typename L::Bytes table, high;

  __attribute__((always_inline)) inline BlockCodes(const std::byte* block, typename L::Bytes lookup) : p(block), table(lookup) {
    if constexpr (codes == Codes::n5) high = L::load_bytes(p + 256);
  }
  // n6: the vector whose codes are spread over the two highest bits of three others, which begin at q.
  __attribute__((always_inline)) static inline typename L::Bytes from_tops(const std::byte* q) {
    return L::template with_high_bits<-2>(L::template with_high_bits<-4>(L::top_two(L::load_bytes(q)), L::load_bytes(q + 64), 12), L::load_bytes(q + 128), 48);
  }
  template <int g>
  __attribute__((always_inline)) inline typename L::Bytes vector() const {
    if constexpr (codes == Codes::b8) {
      return L::load_bytes(p + 64 * g);
    } else if constexpr (codes == Codes::n6) {
      if constexpr (g % 4 == 3) return from_tops(p + g / 4 * 192);
      else return L::low_six(L::load_bytes(p + 64 * (g - g / 4)));
    } else {
      const auto both = L::load_bytes(p + 64 * (g % 4));
      auto x = g < 4 ? L::low_nibbles(both) : L::high_nibbles(both);
      if constexpr (codes == Codes::n4_table) x = L::look_up(table, x);
      if constexpr (codes == Codes::n5) x = L::template with_high_bits<4 - g>(x, high, 16);
      return x;
    }
  }
};

template <class L, Codes codes, Scales scales, int N>
struct BlockKernel {
  static constexpr bool kSigned = codes == Codes::b8 || codes == Codes::n4_table;
  static constexpr bool kHalves = scales == Scales::super16 || scales == Scales::super16_min;  // 16-wide scales
  static constexpr bool kTwoChains = 3 * N <= L::kRegisters - 7;  // low and high vectors summed apart: dots wait for each other less

  template <int g>
  __attribute__((always_inline)) static inline void dots(const BlockCodes<L, codes>& block, const int32_t* a, typename L::I (&lo)[N], typename L::I (&hi)[N]) {
    const typename L::Bytes x = block.template vector<g>(), y = block.template vector<g + 4>();
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) {
      if constexpr (kSigned) lo[c] = L::dot_signed(lo[c], x, a + g * N + c);
      else lo[c] = L::dot(lo[c], x, a + g * N + c);
    }
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) {
      auto& acc = kHalves || kTwoChains ? hi[c] : lo[c];
      if constexpr (kSigned) acc = L::dot_signed(acc, y, a + (g + 4) * N + c);
      else acc = L::dot(acc, y, a + (g + 4) * N + c);
    }
  }

  // log2 of the offset that is subtracted from every code, or −1: known from the layout, so that it costs no branch.
  static constexpr int kOffsetBits = kSigned                                                 ? 7
                                     : codes == Codes::n6                                    ? 5
                                     : codes == Codes::n5 && scales == Scales::half32        ? 4
                                     : codes == Codes::n4 && scales == Scales::half32        ? 3
                                     : codes == Codes::n4 && scales == Scales::super16       ? 2
                                                                                             : -1;

  // −offset · Σa, where an integer sum starts.
  __attribute__((always_inline)) static inline typename L::I start(const int32_t* debt) {
    if constexpr (kOffsetBits < 0 || (kSigned && !L::kBiasedDot)) return L::zero_int();
    else return L::template broadcast_shifted<kOffsetBits>(debt);
  }

  __attribute__((always_inline)) static inline void block(const MacroView& macro, int64_t b, const int32_t* a, typename L::Bytes table, typename L::F (&acc)[N]) {
    typename L::I lo[N], hi[N];
    const auto* scale = reinterpret_cast<const float*>(a + 8 * N);
    const int32_t *debt = a + 9 * N, *debt_lo = a + 10 * N;
    const auto* weighed = reinterpret_cast<const float*>(a + 11 * N);
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) {
      lo[c] = start(kHalves ? debt_lo + c : debt + c);
      hi[c] = kHalves ? L::sub_int(start(debt + c), lo[c]) : L::zero_int();
    }
    const BlockCodes<L, codes> codes_of(macro.codes(b), table);
    dots<0>(codes_of, a, lo, hi);
    dots<1>(codes_of, a, lo, hi);
    dots<2>(codes_of, a, lo, hi);
    dots<3>(codes_of, a, lo, hi);
    if constexpr (!kHalves) {
      const auto d = scale_of(macro, b);
#pragma GCC unroll 8
      for (int c = 0; c < N; ++c) {
        const auto dot = kTwoChains ? L::add_int(lo[c], hi[c]) : lo[c];
        acc[c] = L::fma(L::to_float(dot), L::mul(d, L::set(scale[c])), acc[c]);
      }
      if constexpr (scales == Scales::half32_min || scales == Scales::super32_min) {
        const auto m = min_of(macro, b);
#pragma GCC unroll 8
        for (int c = 0; c < N; ++c) acc[c] = L::fma(m, L::set(weighed[c]), acc[c]);
      }
    } else {
      const auto d0 = half_scale(macro, 2 * b), d1 = half_scale(macro, 2 * b + 1);
#pragma GCC unroll 8
      for (int c = 0; c < N; ++c) acc[c] = L::fma(L::fma(L::to_float(hi[c]), d1, L::mul(L::to_float(lo[c]), d0)), L::set(scale[c]), acc[c]);
      if constexpr (scales == Scales::super16_min) {
        const auto m0 = half_min(macro, 2 * b), m1 = half_min(macro, 2 * b + 1);
#pragma GCC unroll 8
        for (int c = 0; c < N; ++c) {
          acc[c] = L::fma(m0, L::set(scale[c] * float(-debt_lo[c])), acc[c]);
          acc[c] = L::fma(m1, L::set(scale[c] * float(debt_lo[c] - debt[c])), acc[c]);
        }
      }
    }
  }

  // Scale and signed minimum of a 32-block.
  __attribute__((always_inline)) static inline typename L::F scale_of(const MacroView& macro, int64_t b) {
    if constexpr (scales == Scales::float32) return L::load(reinterpret_cast<const float*>(macro.block_scale(b)));
    else if constexpr (scales == Scales::super32_min) return L::mul(L::load_half(macro.super_scale()), L::load_u8(macro.sub_scale(b)));
    else return L::load_half(macro.block_scale(b));
  }
  __attribute__((always_inline)) static inline typename L::F min_of(const MacroView& macro, int64_t b) {
    if constexpr (scales == Scales::super32_min) return L::negate(L::mul(L::load_half(macro.super_scale(true)), L::load_u8(macro.sub_scale(b, true))));
    else return L::load_half(macro.block_scale(b, true));
  }

  // The same of 16 weights.
  __attribute__((always_inline)) static inline typename L::F half_scale(const MacroView& macro, int64_t sub) {
    return L::mul(L::load_half(macro.super_scale()), scales == Scales::super16 ? L::load_i8(macro.sub_scale(sub)) : L::load_u8(macro.sub_scale(sub)));
  }
  __attribute__((always_inline)) static inline typename L::F half_min(const MacroView& macro, int64_t sub) {
    return L::negate(L::mul(L::load_half(macro.super_scale(true)), L::load_u8(macro.sub_scale(sub, true))));
  }
};

}  // namespace outrider::kernels::cpu
