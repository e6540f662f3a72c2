#pragma once
// Randomness by position: a pure function of (seed, stream, position, token id), so that a choice at a place in a sequence is the
// same however the engine got there: alone or in a batch, plain or while verifying a draft, now or on a second try.
#include <cstdint>

#include "base/math.h"

namespace outrider {

// The 64-bit finaliser of splitmix64 (Steele, Lea, Flood 2014; Stafford's variant 13): a bijection that mixes every bit into all.
inline uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// The noise of one position: made once per row, then asked for each token id.
class PositionNoise {
 public:
  PositionNoise(uint64_t seed, uint64_t stream, int64_t position) {
    uint64_t key = mix_bits(seed + kGolden);
    key = mix_bits((key ^ mix_bits(stream + kStream)) + kGolden);
    key_ = mix_bits((key ^ mix_bits(uint64_t(position) + kPosition)) + kGolden);
  }

  // The splitmix64 sequence that starts at the key: one multiplication and one finaliser, as a vocabulary is asked for at every row.
  uint64_t bits(int32_t token) const { return mix_bits(uint64_t(uint32_t(token)) * kGolden + key_); }

  // Uniform in (0, 1), never an end point: odd multiples of 2^-53, all exact.
  static double uniform_of(uint64_t random) { return (double(random >> 12) + 0.5) * 0x1p-52; }
  double uniform(int32_t token) const { return uniform_of(bits(token)); }

  // Standard Gumbel: -log(-log(u)). argmax over i of (log p_i + gumbel_i) is a sample of p (Gumbel 1954). At most kMaxGumbel.
  static double gumbel_of(uint64_t random) { return -math::log(-math::log(uniform_of(random))); }
  double gumbel(int32_t token) const { return gumbel_of(bits(token)); }
  static constexpr double kMaxGumbel = 36.8;  // -log(2^-53) = 36.74

 private:
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ull, kStream = 0xd1b54a32d192ed03ull, kPosition = 0x8cb92ba72f3d8dd7ull;

  uint64_t key_;
};

}  // namespace outrider
