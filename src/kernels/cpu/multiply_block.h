#pragma once
// One 32-block of a tile meets the columns of a panel: unpacking, dots, scales. For lane types whose dots add into the sum they are given.
#include "kernels/kernels.h"
#include "kernels/tile_view.h"

namespace outrider::kernels::cpu {

struct PanelView {  // a panel's record of one block, and its starts
  const int32_t *codes, *starts;
};

// What a block fetches while it is at work: kLines lines far ahead, into the second-level cache, and as many near, from there into the
// first; null: none. BlockKernel spreads them evenly between its dots: in one burst they would fill the core's line fill buffers, and its
// own loads would have to wait for one. A processor that is asked for much may forget a far line; the near fetch asks again.
template <Codes codes>
struct Ahead {
  const std::byte *far, *near;
  static constexpr int kLines = codes == Codes::b8 ? 9 : codes == Codes::n6 ? 7 : codes == Codes::n5 ? 6 : 5;  // an eighth of a macro with its scales; Q2_K's last line of 41 is left out
  template <int quarter>
  __attribute__((always_inline)) inline void fetch() const {
    if (far) fetch_quarter<quarter, 2>(far);
    if (near) fetch_quarter<quarter, 3>(near);
  }
  template <int quarter, int level>
  __attribute__((always_inline)) static inline void fetch_quarter(const std::byte* p) {
    for (int line = kLines * quarter / 4; line < kLines * (quarter + 1) / 4; ++line) __builtin_prefetch(p + 64 * line, 0, level);
  }
};

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
  // Low and high vectors summed apart, where registers allow it: with one or two columns the dots wait for each other, so two chains of
  // them; with more columns there are chains enough.
  static constexpr bool kTwoChains = N <= 2 && 3 * N <= L::kRegisters - 7;

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

  // Where an integer sum over all 32, or over half 0 or 1 of them, starts: kSumStart − offset · Σa.
  static_assert(code_offset(codes, scales) == (kSigned ? 128 : codes == Codes::n6 ? 32 : codes == Codes::n5 && scales == Scales::half32 ? 16
                                               : codes == Codes::n4 && scales == Scales::half32 ? 8 : codes == Codes::n4 && scales == Scales::super16 ? 4 : 0), "what start takes off");
  template <int half = 0>
  __attribute__((always_inline)) static inline typename L::I start(const int32_t* starts, int c) {
    using S = PanelStarts;
    const auto zero = L::int_of(kSumStart);
    if constexpr (kSigned) return L::kBiasedDot ? L::broadcast(starts + S::kStart128 * N + c) : zero;
    else if constexpr (codes == Codes::n6) return L::broadcast(starts + (S::kStart32 + half) * N + c);
    else if constexpr (codes == Codes::n5 && scales == Scales::half32) return L::add_int(L::template broadcast_shifted<4>(starts + S::kDebt * N + c), zero);
    else if constexpr (codes == Codes::n4 && scales == Scales::half32) return L::add_int(L::template broadcast_shifted<3>(starts + S::kDebt * N + c), zero);
    else if constexpr (codes == Codes::n4 && scales == Scales::super16) return L::add_int(L::template shift_right<3>(L::sub_int(L::broadcast(starts + (S::kStart32 + half) * N + c), zero)), zero);
    else return zero;
  }

  // Scales of the macro's super-blocks, as floats; nothing where a format has none.
  struct Super {
    typename L::F d, m;
  };
  __attribute__((always_inline)) static inline Super super_of(const MacroView& macro) {
    constexpr bool with_min = scales == Scales::super32_min || scales == Scales::super16_min;
    if constexpr (with_min) return {L::load_half(macro.super_scale()), L::load_half(macro.super_scale(true))};
    else if constexpr (scales == Scales::super16) return {L::load_half(macro.super_scale()), L::zero()};
    else return {L::zero(), L::zero()};
  }

  __attribute__((always_inline)) static inline void block(const MacroView& macro, const Super& super, int64_t b, PanelView panel, typename L::Bytes table, const Ahead<codes>& ahead, typename L::F (&acc)[N]) {
    const int32_t* a = panel.codes;
    typename L::I lo[N], hi[N];
    const auto* scale = reinterpret_cast<const float*>(a + PanelRecord::kScale * N);
#pragma GCC unroll 8
    for (int c = 0; c < N; ++c) {
      lo[c] = start<0>(panel.starts, c);
      hi[c] = kHalves ? start<1>(panel.starts, c) : L::zero_int();
    }
    const BlockCodes<L, codes> codes_of(macro.codes(b), table);
    dots<0>(codes_of, a, lo, hi);
    ahead.template fetch<0>();
    dots<1>(codes_of, a, lo, hi);
    ahead.template fetch<1>();
    dots<2>(codes_of, a, lo, hi);
    ahead.template fetch<2>();
    dots<3>(codes_of, a, lo, hi);
    ahead.template fetch<3>();
    if constexpr (!kHalves) {
      const auto d = scale_of(macro, super, b), origin = L::mul(d, L::set(-kSumStartValue));
#pragma GCC unroll 8
      for (int c = 0; c < N; ++c) {
        const auto sum = L::as_float(kTwoChains ? L::add_int(lo[c], hi[c]) : lo[c]);
        acc[c] = L::fma(L::fma(sum, d, origin), L::set(scale[c]), acc[c]);
      }
    } else {
      const auto d0 = half_scale(macro, super, 2 * b), d1 = half_scale(macro, super, 2 * b + 1), origin = L::mul(L::add(d0, d1), L::set(-kSumStartValue));
#pragma GCC unroll 8
      for (int c = 0; c < N; ++c) acc[c] = L::fma(L::fma(L::as_float(hi[c]), d1, L::fma(L::as_float(lo[c]), d0, origin)), L::set(scale[c]), acc[c]);
    }
    add_minima(macro, super, b, panel, acc);
  }

  __attribute__((always_inline)) static inline void add_minima(const MacroView& macro, const Super& super, int64_t b, PanelView panel, typename L::F (&acc)[N]) {
    if constexpr (scales == Scales::half32_min || scales == Scales::super32_min) {
      const auto minima = minima_of(macro, super, b);
#pragma GCC unroll 8
      for (int c = 0; c < N; ++c) acc[c] = add_minimum(minima, panel, c, acc[c]);
    } else if constexpr (scales == Scales::super16_min) {
      const auto m0 = half_min(macro, super, 2 * b), m1 = half_min(macro, super, 2 * b + 1);
#pragma GCC unroll 8
      for (int c = 0; c < N; ++c) acc[c] = add_half_minima(m0, m1, panel, c, acc[c]);
    }
  }
  __attribute__((always_inline)) static inline typename L::F add_minimum(typename L::F minima, PanelView panel, int c, typename L::F acc) {
    const auto weighed = L::set(reinterpret_cast<const float*>(panel.codes)[PanelRecord::kWeighed * N + c]);
    return scales == Scales::super32_min ? L::fnma(minima, weighed, acc) : L::fma(minima, weighed, acc);
  }
  __attribute__((always_inline)) static inline typename L::F add_half_minima(typename L::F m0, typename L::F m1, PanelView panel, int c, typename L::F acc) {
    const float scale = reinterpret_cast<const float*>(panel.codes)[PanelRecord::kScale * N + c];
    // Σ codes of a half: kStart32 holds kSumStart − 32 times it.
    const auto sum = [&](int half) __attribute__((always_inline)) { return float((kSumStart - panel.starts[(PanelStarts::kStart32 + half) * N + c]) >> 5); };
    return L::fnma(m1, L::set(scale * sum(1)), L::fnma(m0, L::set(scale * sum(0)), acc));
  }

  // Scale of a 32-block and its minimum, which K-quants subtract.
  __attribute__((always_inline)) static inline typename L::F scale_of(const MacroView& macro, const Super& super, int64_t b) {
    if constexpr (scales == Scales::float32) return L::load(reinterpret_cast<const float*>(macro.block_scale(b)));
    else if constexpr (scales == Scales::super32_min) return L::mul(super.d, L::load_u8(macro.sub_scale(b)));
    else return L::load_half(macro.block_scale(b));
  }
  __attribute__((always_inline)) static inline typename L::F minima_of(const MacroView& macro, const Super& super, int64_t b) {
    if constexpr (scales == Scales::super32_min) return L::mul(super.m, L::load_u8(macro.sub_scale(b, true)));
    else return L::load_half(macro.block_scale(b, true));
  }

  // The same of 16 weights.
  __attribute__((always_inline)) static inline typename L::F half_scale(const MacroView& macro, const Super& super, int64_t sub) {
    return L::mul(super.d, scales == Scales::super16 ? L::load_i8(macro.sub_scale(sub)) : L::load_u8(macro.sub_scale(sub)));
  }
  __attribute__((always_inline)) static inline typename L::F half_min(const MacroView& macro, const Super& super, int64_t sub) {
    return L::mul(super.m, L::load_u8(macro.sub_scale(sub, true)));
  }
};

}  // namespace outrider::kernels::cpu
