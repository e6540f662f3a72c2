#pragma once
// Sixteen 32-bit lanes as two AVX2 registers. Included by *_avx2.cpp only, which are compiled with AVX2, FMA and F16C.
#include <immintrin.h>

#include <cstdint>

#define OUTRIDER_INLINE static inline __attribute__((always_inline))

namespace outrider::kernels::avx2 {
namespace {

struct Pair {
  __m256 a, b;
};
struct PairInt {
  __m256i a, b;
};

struct Lanes {
  using F = Pair;
  using I = PairInt;
  using Bytes = PairInt;
  static constexpr int kProbeSums = 4;  // only the last addition depends on the sum, and there are sixteen registers
  static constexpr int kRegisters = 7;  // pairs for accumulators and what they need beside them
  static constexpr bool kBiasedDot = false;
  static constexpr bool kWordSums = true;  // dots by multiply_words.h

  OUTRIDER_INLINE F zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  OUTRIDER_INLINE F set(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  OUTRIDER_INLINE F load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  OUTRIDER_INLINE void store(float* p, F x) { _mm256_storeu_ps(p, x.a), _mm256_storeu_ps(p + 8, x.b); }
  OUTRIDER_INLINE F load_half(const void* p) {
    const auto* h = static_cast<const __m128i*>(p);
    return {_mm256_cvtph_ps(_mm_loadu_si128(h)), _mm256_cvtph_ps(_mm_loadu_si128(h + 1))};
  }
  OUTRIDER_INLINE __m256 bf16(const __m128i* p) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(p)), 16)); }
  OUTRIDER_INLINE F load_bf16(const void* p) { return {bf16(static_cast<const __m128i*>(p)), bf16(static_cast<const __m128i*>(p) + 1)}; }
  OUTRIDER_INLINE F load_u8(const void* p) {
    const __m128i x = _mm_loadu_si128(static_cast<const __m128i*>(p));
    return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(x)), _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(x, 8)))};
  }
  OUTRIDER_INLINE F load_i8(const void* p) {
    const __m128i x = _mm_loadu_si128(static_cast<const __m128i*>(p));
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(x)), _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(x, 8)))};
  }
  OUTRIDER_INLINE F add(F x, F y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
  OUTRIDER_INLINE F sub(F x, F y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
  OUTRIDER_INLINE F mul(F x, F y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
  OUTRIDER_INLINE F div(F x, F y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
  OUTRIDER_INLINE F fma(F x, F y, F z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
  OUTRIDER_INLINE F fnma(F x, F y, F z) { return {_mm256_fnmadd_ps(x.a, y.a, z.a), _mm256_fnmadd_ps(x.b, y.b, z.b)}; }
  OUTRIDER_INLINE F min(F x, F y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }
  OUTRIDER_INLINE F max(F x, F y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
  OUTRIDER_INLINE F abs(F x) {
    const __m256 mask = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    return {_mm256_and_ps(x.a, mask), _mm256_and_ps(x.b, mask)};
  }
  OUTRIDER_INLINE F negate(F x) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_xor_ps(x.a, sign), _mm256_xor_ps(x.b, sign)};
  }
  OUTRIDER_INLINE F zero_unless_greater(F value, F x, F limit) {
    return {_mm256_and_ps(value.a, _mm256_cmp_ps(x.a, limit.a, _CMP_GT_OQ)), _mm256_and_ps(value.b, _mm256_cmp_ps(x.b, limit.b, _CMP_GT_OQ))};
  }
  OUTRIDER_INLINE uint32_t greater(F x, F y) {
    return uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(x.a, y.a, _CMP_GT_OQ))) | uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(x.b, y.b, _CMP_GT_OQ))) << 8;
  }
  OUTRIDER_INLINE int store_places(int32_t* out, int32_t first, uint32_t bits) {
    int count = 0;
    for (; bits; bits &= bits - 1) out[count++] = first + __builtin_ctz(bits);
    return count;
  }
  OUTRIDER_INLINE float largest(F x) {
    const __m256 eight = _mm256_max_ps(x.a, x.b);
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1)), two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
  }
  OUTRIDER_INLINE __m256 keep(__m256 x, int first, int count) {
    const __m256i lane = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(first));
    return _mm256_blendv_ps(_mm256_set1_ps(-__builtin_inff()), x, _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane)));
  }
  OUTRIDER_INLINE F keep_first(F x, int count) { return {keep(x.a, 0, count), keep(x.b, 8, count)}; }
  OUTRIDER_INLINE __m256 pow2(__m256 n) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23)); }
  OUTRIDER_INLINE F power_of_two(F n) { return {pow2(n.a), pow2(n.b)}; }

  OUTRIDER_INLINE I zero_int() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
  template <int bits>
  OUTRIDER_INLINE I broadcast_shifted(const int32_t* x) {
    const __m256i v = _mm256_slli_epi32(_mm256_set1_epi32(*x), bits);
    return {v, v};
  }
  OUTRIDER_INLINE I int_of(int x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
  template <int bits>
  OUTRIDER_INLINE I shift_left(I x) { return {_mm256_slli_epi32(x.a, bits), _mm256_slli_epi32(x.b, bits)}; }
  template <int bits>
  OUTRIDER_INLINE I shift_right(I x) { return {_mm256_srai_epi32(x.a, bits), _mm256_srai_epi32(x.b, bits)}; }  // keeps the sign
  OUTRIDER_INLINE I sub_int(I x, I y) { return {_mm256_sub_epi32(x.a, y.a), _mm256_sub_epi32(x.b, y.b)}; }
  OUTRIDER_INLINE I add_int(I x, I y) { return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)}; }
  OUTRIDER_INLINE I round(F x) { return {_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b)}; }
  OUTRIDER_INLINE I broadcast(const int32_t* x) { return {_mm256_set1_epi32(*x), _mm256_set1_epi32(*x)}; }
  OUTRIDER_INLINE F as_float(I x) { return {_mm256_castsi256_ps(x.a), _mm256_castsi256_ps(x.b)}; }
  OUTRIDER_INLINE F to_float(I x) { return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }
  OUTRIDER_INLINE void store_int8(void* p, I x) {
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(x.a, x.b), 0xD8);
    _mm_storeu_si128(static_cast<__m128i*>(p), _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  }
  OUTRIDER_INLINE void store_uint8(void* p, I x) {
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(x.a, x.b), 0xD8);
    _mm_storeu_si128(static_cast<__m128i*>(p), _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  }
  OUTRIDER_INLINE int sum_int(I x) {
    alignas(32) uint32_t lane[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(lane), _mm256_add_epi32(x.a, x.b));
    return int(lane[0] + lane[1] + lane[2] + lane[3] + lane[4] + lane[5] + lane[6] + lane[7]);
  }
  OUTRIDER_INLINE void store_half(void* p, F x) {
    auto* h = static_cast<__m128i*>(p);
    _mm_storeu_si128(h, _mm256_cvtps_ph(x.a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    _mm_storeu_si128(h + 1, _mm256_cvtps_ph(x.b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }

  OUTRIDER_INLINE Bytes load_bytes(const void* p) {
    const auto* v = static_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(v), _mm256_loadu_si256(v + 1)};
  }
  OUTRIDER_INLINE Bytes opaque(Bytes x) {
    asm("" : "+x"(x.a), "+x"(x.b));
    return x;
  }
  OUTRIDER_INLINE Bytes low_nibbles(Bytes x) {
    const __m256i m = _mm256_set1_epi8(15);
    return {_mm256_and_si256(x.a, m), _mm256_and_si256(x.b, m)};
  }
  OUTRIDER_INLINE Bytes high_nibbles(Bytes x) { return low_nibbles({_mm256_srli_epi16(x.a, 4), _mm256_srli_epi16(x.b, 4)}); }
  template <int shift>
  OUTRIDER_INLINE __m256i moved(__m256i high) {
    return shift >= 0 ? _mm256_slli_epi16(high, shift >= 0 ? shift : 0) : _mm256_srli_epi16(high, shift >= 0 ? 0 : -shift);
  }
  OUTRIDER_INLINE Bytes low_six(Bytes x) {
    const __m256i m = _mm256_set1_epi8(63);
    return {_mm256_and_si256(x.a, m), _mm256_and_si256(x.b, m)};
  }
  OUTRIDER_INLINE Bytes top_two(Bytes x) {
    const __m256i m = _mm256_set1_epi8(3);
    return {_mm256_and_si256(_mm256_srli_epi16(x.a, 6), m), _mm256_and_si256(_mm256_srli_epi16(x.b, 6), m)};
  }
  template <int shift>
  OUTRIDER_INLINE Bytes with_high_bits(Bytes x, Bytes high, int mask) {
    const __m256i m = _mm256_set1_epi8(char(mask));
    return {_mm256_or_si256(x.a, _mm256_and_si256(moved<shift>(high.a), m)), _mm256_or_si256(x.b, _mm256_and_si256(moved<shift>(high.b), m))};
  }
  OUTRIDER_INLINE Bytes table_bytes(const int8_t* table) {
    const __m256i t = _mm256_xor_si256(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), _mm256_set1_epi8(char(0x80)));
    return {t, t};
  }
  OUTRIDER_INLINE Bytes look_up(Bytes table, Bytes nibbles) { return {_mm256_shuffle_epi8(table.a, nibbles.a), _mm256_shuffle_epi8(table.b, nibbles.b)}; }

  // What only kWordSums needs. Σ code · a of each two neighbours, as 16-bit words; codes ≤ 63, as with dot. add_words adds them, join_words
  // makes sums of two neighbours, the 32-bit sums of four that dot adds. Whoever adds sees to it that they fit.
  OUTRIDER_INLINE I word_sums(Bytes codes, const int32_t* a) {
    const __m256i x = _mm256_set1_epi32(*a);
    return {_mm256_maddubs_epi16(codes.a, x), _mm256_maddubs_epi16(codes.b, x)};
  }
  OUTRIDER_INLINE I add_words(I x, I y) { return {_mm256_add_epi16(x.a, y.a), _mm256_add_epi16(x.b, y.b)}; }
  OUTRIDER_INLINE I join_words(I x) { return {_mm256_madd_epi16(x.a, _mm256_set1_epi16(1)), _mm256_madd_epi16(x.b, _mm256_set1_epi16(1))}; }

  // Codes ≤ 63: 63·127·2 fits the 16-bit pair sums.
  OUTRIDER_INLINE I dot(I acc, Bytes codes, const int32_t* a) {
    const __m256i x = _mm256_set1_epi32(*a), ones = _mm256_set1_epi16(1);
    return {_mm256_add_epi32(acc.a, _mm256_madd_epi16(_mm256_maddubs_epi16(codes.a, x), ones)),
            _mm256_add_epi32(acc.b, _mm256_madd_epi16(_mm256_maddubs_epi16(codes.b, x), ones))};
  }
  // Eight-bit codes would saturate the pair sums as unsigned × signed, so |w| ≤ 128 times sign(w)·a.
  OUTRIDER_INLINE __m256i dot8(__m256i acc, __m256i biased, __m256i x) {
    const __m256i w = _mm256_xor_si256(biased, _mm256_set1_epi8(char(0x80)));
    return _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w)), _mm256_set1_epi16(1)));
  }
  OUTRIDER_INLINE I dot_signed(I acc, Bytes biased, const int32_t* a) {
    const __m256i x = _mm256_set1_epi32(*a);
    return {dot8(acc.a, biased.a, x), dot8(acc.b, biased.b, x)};
  }
  // Full bytes on both sides would saturate the pair sums: even and odd bytes as words instead.
  OUTRIDER_INLINE __m256i dot_words(__m256i acc, __m256i w, __m256i v) {
    const __m256i even = _mm256_madd_epi16(_mm256_and_si256(w, _mm256_set1_epi16(255)), _mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8));
    return _mm256_add_epi32(acc, _mm256_add_epi32(even, _mm256_madd_epi16(_mm256_srli_epi16(w, 8), _mm256_srai_epi16(v, 8))));
  }
  OUTRIDER_INLINE I dot_weights(I acc, const uint8_t* weights, const void* values) {
    const __m256i w = _mm256_set1_epi32(*reinterpret_cast<const int32_t*>(weights));
    const Bytes v = load_bytes(values);
    return {dot_words(acc.a, w, v.a), dot_words(acc.b, w, v.b)};
  }
};

}  // namespace
}  // namespace outrider::kernels::avx2
