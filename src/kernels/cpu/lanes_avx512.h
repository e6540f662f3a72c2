#pragma once
// Sixteen 32-bit lanes as one AVX-512 register. Included by *_avx512.cpp only, which are compiled with AVX-512 VNNI.
#include <immintrin.h>

#include <cstdint>

#define OUTRIDER_INLINE static inline __attribute__((always_inline))

namespace outrider::kernels::avx512 {
namespace {

struct Lanes {
  using F = __m512;
  using I = __m512i;
  using Bytes = __m512i;
  static constexpr int kProbeSums = 16;  // independent sums that fill the multipliers: latency 4, two a cycle at best
  static constexpr int kRegisters = 31;     // for accumulators and what they need beside them
  static constexpr bool kWordSums = false;  // no dot that adds: sums of products are kept as 16-bit words (lanes_avx2.h, multiply_words.h)
  static constexpr bool kBiasedDot = true;  // dot_signed wants code + 128 and the correction −128·Σa in the accumulator

  OUTRIDER_INLINE F zero() { return _mm512_setzero_ps(); }
  OUTRIDER_INLINE F set(float x) { return _mm512_set1_ps(x); }
  OUTRIDER_INLINE F load(const float* p) { return _mm512_loadu_ps(p); }
  OUTRIDER_INLINE void store(float* p, F x) { _mm512_storeu_ps(p, x); }
  OUTRIDER_INLINE F load_half(const void* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p))); }
  OUTRIDER_INLINE F load_bf16(const void* p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p))), 16));
  }
  OUTRIDER_INLINE F load_u8(const void* p) { return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)))); }
  OUTRIDER_INLINE F load_i8(const void* p) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)))); }
  OUTRIDER_INLINE F add(F a, F b) { return _mm512_add_ps(a, b); }
  OUTRIDER_INLINE F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  OUTRIDER_INLINE F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  OUTRIDER_INLINE F div(F a, F b) { return _mm512_div_ps(a, b); }
  OUTRIDER_INLINE F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  OUTRIDER_INLINE F fnma(F a, F b, F c) { return _mm512_fnmadd_ps(a, b, c); }  // c − a·b
  OUTRIDER_INLINE F min(F a, F b) { return _mm512_min_ps(a, b); }  // b when a is NaN
  OUTRIDER_INLINE F max(F a, F b) { return _mm512_max_ps(a, b); }  // b when a is NaN: max(x, so_far) passes NaN over
  OUTRIDER_INLINE F abs(F a) { return _mm512_abs_ps(a); }
  OUTRIDER_INLINE F negate(F a) { return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), _mm512_set1_epi32(int(0x80000000u)))); }
  OUTRIDER_INLINE F zero_unless_greater(F value, F x, F limit) { return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, limit, _CMP_GT_OQ), value); }
  OUTRIDER_INLINE uint32_t greater(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }  // bit l of lane l
  // Writes first + l for every bit l, and gives their number.
  OUTRIDER_INLINE int store_places(int32_t* out, int32_t first, uint32_t bits) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), places = _mm512_add_epi32(_mm512_set1_epi32(first), lanes);
    const int count = __builtin_popcount(bits);
    _mm512_mask_storeu_epi32(out, __mmask16((1u << count) - 1), _mm512_maskz_compress_epi32(__mmask16(bits), places));  // storing compressed is slow on Zen 4
    return count;
  }
  OUTRIDER_INLINE float largest(F a) { return _mm512_reduce_max_ps(a); }  // no lane is NaN
  // Lanes at or past `count` become −infinity.
  OUTRIDER_INLINE F keep_first(F x, int count) {
    return _mm512_mask_mov_ps(_mm512_set1_ps(-__builtin_inff()), __mmask16(count >= 16 ? 0xffff : (1u << count) - 1), x);
  }
  OUTRIDER_INLINE F power_of_two(F n) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23)); }

  OUTRIDER_INLINE I zero_int() { return _mm512_setzero_si512(); }
  template <int bits>
  OUTRIDER_INLINE I broadcast_shifted(const int32_t* x) { return _mm512_slli_epi32(_mm512_set1_epi32(*x), bits); }
  OUTRIDER_INLINE I int_of(int x) { return _mm512_set1_epi32(x); }
  template <int bits>
  OUTRIDER_INLINE I shift_left(I x) { return _mm512_slli_epi32(x, bits); }
  template <int bits>
  OUTRIDER_INLINE I shift_right(I x) { return _mm512_srai_epi32(x, bits); }  // keeps the sign
  OUTRIDER_INLINE I sub_int(I a, I b) { return _mm512_sub_epi32(a, b); }
  OUTRIDER_INLINE I add_int(I a, I b) { return _mm512_add_epi32(a, b); }
  OUTRIDER_INLINE I round(F x) { return _mm512_cvtps_epi32(x); }  // to the nearest, halves to even
  OUTRIDER_INLINE I broadcast(const int32_t* x) { return _mm512_set1_epi32(*x); }
  OUTRIDER_INLINE F as_float(I x) { return _mm512_castsi512_ps(x); }  // the same bits
  OUTRIDER_INLINE F to_float(I x) { return _mm512_cvtepi32_ps(x); }  // the same number, rounded to 24 bits, halves to even
  // The low byte of each lane; x fits one, as int8 or uint8.
  OUTRIDER_INLINE void store_int8(void* p, I x) { _mm_storeu_si128(static_cast<__m128i*>(p), _mm512_cvtepi32_epi8(x)); }
  OUTRIDER_INLINE void store_uint8(void* p, I x) { _mm_storeu_si128(static_cast<__m128i*>(p), _mm512_cvtusepi32_epi8(x)); }
  OUTRIDER_INLINE int sum_int(I x) { return _mm512_reduce_add_epi32(x); }  // modulo 2³²
  OUTRIDER_INLINE void store_half(void* p, F x) { _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)); }

  OUTRIDER_INLINE Bytes load_bytes(const void* p) { return _mm512_loadu_si512(p); }
  OUTRIDER_INLINE Bytes opaque(Bytes x) {  // the same bytes, but for all the compiler knows they are others: no product with them is kept
    asm("" : "+v"(x));
    return x;
  }
  OUTRIDER_INLINE Bytes low_nibbles(Bytes x) { return _mm512_and_si512(x, _mm512_set1_epi8(15)); }
  OUTRIDER_INLINE Bytes high_nibbles(Bytes x) { return _mm512_and_si512(_mm512_srli_epi16(x, 4), _mm512_set1_epi8(15)); }
  OUTRIDER_INLINE Bytes low_six(Bytes x) { return _mm512_and_si512(x, _mm512_set1_epi8(63)); }
  OUTRIDER_INLINE Bytes top_two(Bytes x) { return _mm512_and_si512(_mm512_srli_epi16(x, 6), _mm512_set1_epi8(3)); }
  // x | ((high shifted) & mask): bits of 5- and 6-bit codes that lie apart. shift = target bit − source bit.
  template <int shift>
  OUTRIDER_INLINE Bytes with_high_bits(Bytes x, Bytes high, int mask) {
    const __m512i moved = shift >= 0 ? _mm512_slli_epi16(high, shift >= 0 ? shift : 0) : _mm512_srli_epi16(high, shift >= 0 ? 0 : -shift);
    return _mm512_ternarylogic_epi32(x, moved, _mm512_set1_epi8(char(mask)), 0xF8);  // x | (moved & mask)
  }
  OUTRIDER_INLINE Bytes table_bytes(const int8_t* table) {  // values + 128
    return _mm512_xor_si512(_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), _mm512_set1_epi8(char(0x80)));
  }
  OUTRIDER_INLINE Bytes look_up(Bytes table, Bytes nibbles) { return _mm512_shuffle_epi8(table, nibbles); }

  // acc += Σ_j code[lane][j] · a[j], four unsigned codes ≤ 63 against four signed activations broadcast from memory.
  // The operand stays in memory: left to itself the compiler splits the broadcast off and spills.
  OUTRIDER_INLINE I dot(I acc, Bytes codes, const int32_t* a) {
    asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(acc) : "v"(codes), "m"(*a));
    return acc;
  }
  OUTRIDER_INLINE I dot_signed(I acc, Bytes biased, const int32_t* a) { return dot(acc, biased, a); }
  // acc += Σ_j weight[j] · value[lane][j], four unsigned codes broadcast against four signed ones of each lane.
  OUTRIDER_INLINE I dot_weights(I acc, const uint8_t* weights, const void* values) {
    return _mm512_dpbusd_epi32(acc, _mm512_set1_epi32(*reinterpret_cast<const int32_t*>(weights)), _mm512_loadu_si512(values));
  }
};

}  // namespace
}  // namespace outrider::kernels::avx512
