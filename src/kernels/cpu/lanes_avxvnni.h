#pragma once
// The AVX2 lanes with the 256-bit integer dots of AVX-VNNI (desktop processors without AVX-512). Included by *_avxvnni.cpp only.
#include "kernels/cpu/lanes_avx2.h"

namespace outrider::kernels::avxvnni {
namespace {

struct Lanes : avx2::Lanes {
  static constexpr int kProbeSums = 6;      // pairs of independent sums
  static constexpr bool kWordSums = false;
  static constexpr bool kBiasedDot = true;  // as with AVX-512

  OUTRIDER_INLINE I dot(I acc, Bytes codes, const int32_t* a) {
    const __m256i x = _mm256_set1_epi32(*a);
    return {_mm256_dpbusd_avx_epi32(acc.a, codes.a, x), _mm256_dpbusd_avx_epi32(acc.b, codes.b, x)};
  }
  OUTRIDER_INLINE I dot_signed(I acc, Bytes biased, const int32_t* a) { return dot(acc, biased, a); }
  OUTRIDER_INLINE I dot_weights(I acc, const uint8_t* weights, const void* values) {
    const __m256i w = _mm256_set1_epi32(*reinterpret_cast<const int32_t*>(weights));
    const Bytes v = load_bytes(values);
    return {_mm256_dpbusd_avx_epi32(acc.a, w, v.a), _mm256_dpbusd_avx_epi32(acc.b, w, v.b)};
  }
};

}  // namespace
}  // namespace outrider::kernels::avxvnni
