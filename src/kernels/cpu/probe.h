#pragma once
// What the instruction set in use could do at best, for any lane type: the loads and dots of the matrix kernel with nothing between them.
#include "kernels/kernels.h"

namespace outrider::kernels::cpu {

template <class L>
uint32_t probe_read(const std::byte* data, int64_t bytes) {
  auto s0 = L::zero_int(), s1 = s0, s2 = s0, s3 = s0;
  for (const std::byte* end = data + bytes; data < end; data += 256) {
    s0 = L::add_int(s0, L::load_bytes(data)), s1 = L::add_int(s1, L::load_bytes(data + 64));
    s2 = L::add_int(s2, L::load_bytes(data + 128)), s3 = L::add_int(s3, L::load_bytes(data + 192));
  }
  return uint32_t(L::sum_int(L::add_int(L::add_int(s0, s1), L::add_int(s2, s3))));
}

template <class L>
uint32_t probe_dots(const std::byte* codes, const int32_t* a, int64_t rounds) {
  constexpr int kSums = L::kProbeSums;
  static_assert(kSums <= kProbeWords);
  typename L::I sum[kSums];
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i) sum[i] = L::zero_int();
  auto x = L::load_bytes(codes);  // once: with a load a round, loads would set the pace and not the multipliers
  for (int64_t round = 0; round < rounds; ++round) {
    x = L::opaque(x);
    asm volatile("" : "+r"(a));
#pragma GCC unroll 16
    for (int i = 0; i < kProbeWords; ++i) {
      if constexpr (!L::kWordSums) sum[i % kSums] = L::dot(sum[i % kSums], x, a + i);
      else if (i % 2 == 0) sum[i / 2 % kSums] = L::add_int(sum[i / 2 % kSums], L::join_words(L::add_words(L::word_sums(x, a + i), L::word_sums(x, a + i + 1))));
    }
  }
  auto total = sum[0];
#pragma GCC unroll 16
  for (int i = 1; i < kSums; ++i) total = L::add_int(total, sum[i]);
  return uint32_t(L::sum_int(total));
}

}  // namespace outrider::kernels::cpu
