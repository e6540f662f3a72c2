#include "base/noise.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace outrider {
namespace {

// Chi-square over `bins` equal cells; for k degrees of freedom the 1e-6 quantile is below k + 4.8 sqrt(2k) + 16.
template <class Next>
void expect_uniform(int draws, int bins, Next next) {
  std::vector<int> count(size_t(bins), 0);
  for (int i = 0; i < draws; i++) count[size_t(next(i) * bins)]++;
  double chi = 0;
  for (int c : count) chi += (c - double(draws) / bins) * (c - double(draws) / bins) / (double(draws) / bins);
  EXPECT_LT(chi, bins + 4.8 * std::sqrt(2.0 * bins) + 16);
  EXPECT_GT(chi, bins - 4.8 * std::sqrt(2.0 * bins) - 16);
}

TEST(Noise, IsUniformAlongEveryCoordinate) {
  expect_uniform(1 << 18, 256, [](int i) { return PositionNoise(1, 0, 0).uniform(i); });
  expect_uniform(1 << 18, 256, [](int i) { return PositionNoise(1, 0, i).uniform(5); });
  expect_uniform(1 << 18, 256, [](int i) { return PositionNoise(1, uint64_t(i), 9).uniform(5); });
  expect_uniform(1 << 18, 256, [](int i) { return PositionNoise(uint64_t(i), 0, 9).uniform(5); });
}

// Pairs of neighbours along a coordinate fill the unit square evenly: one value says nothing of the next.
TEST(Noise, NeighboursAreIndependent) {
  const auto cell = [](double a, double b) { return (std::floor(a * 16) * 16 + std::floor(b * 16) + 0.5) / 256; };
  expect_uniform(1 << 18, 256, [&](int i) { return cell(PositionNoise(3, 0, i).uniform(7), PositionNoise(3, 0, i + 1).uniform(7)); });
  expect_uniform(1 << 18, 256, [&](int i) { return cell(PositionNoise(3, 0, 4).uniform(i), PositionNoise(3, 0, 4).uniform(i + 1)); });
  expect_uniform(1 << 18, 256, [&](int i) { return cell(PositionNoise(3, 0, i).uniform(7), PositionNoise(3, 1, i).uniform(7)); });
  expect_uniform(1 << 18, 256, [&](int i) { return cell(PositionNoise(uint64_t(i), 0, 1).uniform(7), PositionNoise(uint64_t(i) + 1, 0, 1).uniform(7)); });
  // Diagonals: shifting the position must not equal shifting the token.
  expect_uniform(1 << 18, 256, [&](int i) { return cell(PositionNoise(3, 0, i).uniform(i), PositionNoise(3, 0, i + 1).uniform(i - 1)); });
}

TEST(Noise, EveryInputBitFlipsHalfTheOutput) {
  for (int word = 0; word < 4; word++) {
    for (int bit = 0; bit < (word == 3 ? 31 : 64); bit++) {
      double flips = 0;
      for (int trial = 0; trial < 256; trial++) {
        std::array<uint64_t, 4> in = {uint64_t(trial), 0, uint64_t(trial) * 3, uint64_t(trial) * 5}, other = in;
        other[size_t(word)] ^= uint64_t(1) << bit;
        const uint64_t a = PositionNoise(in[0], in[1], int64_t(in[2])).bits(int32_t(in[3]));
        const uint64_t b = PositionNoise(other[0], other[1], int64_t(other[2])).bits(int32_t(other[3]));
        flips += std::popcount(a ^ b);
      }
      EXPECT_NEAR(flips / 256, 32, 1.5) << "word " << word << " bit " << bit;
    }
  }
}

TEST(Noise, GumbelHasItsMeanAndVariance) {
  double sum = 0, squares = 0;
  constexpr int n = 1 << 20;
  const PositionNoise noise(11, 2, 3);
  for (int i = 0; i < n; i++) {
    const double g = noise.gumbel(i);
    sum += g;
    squares += g * g;
  }
  EXPECT_NEAR(sum / n, 0.5772156649, 0.007);
  EXPECT_NEAR(squares / n - (sum / n) * (sum / n), 1.6449340668, 0.02);
}

TEST(Noise, ExtremesStayFiniteAndOrdered) {
  EXPECT_GT(PositionNoise::uniform_of(0), 0);
  EXPECT_LT(PositionNoise::uniform_of(~0ull), 1);
  EXPECT_LT(PositionNoise::gumbel_of(~0ull), PositionNoise::kMaxGumbel);
  EXPECT_GT(PositionNoise::gumbel_of(~0ull), 36.7);
  EXPECT_GT(PositionNoise::gumbel_of(0), -3.7);
}

// Seeded texts depend on these bits.
TEST(Noise, BitsAreFixed) { EXPECT_EQ(PositionNoise(42, 1, 1000).bits(12345), 9851425682382237218u); }

}  // namespace
}  // namespace outrider
