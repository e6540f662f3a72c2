#include "base/stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/noise.h"

namespace outrider {
namespace {

TEST(Stats, QuantilesInterpolate) {
  const std::vector<double> x = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(median(x), 2.5);
  EXPECT_DOUBLE_EQ(quantile(x, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(x, 1), 4);
  EXPECT_DOUBLE_EQ(quantile(x, 0.9), 3.7);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{5}), 5);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Stats, GeometricMean) {
  EXPECT_NEAR(geometric_mean(std::vector<double>{1, 4, 16}), 4, 1e-12);
  EXPECT_TRUE(std::isnan(geometric_mean({})));
}

TEST(Stats, BootstrapCoversTheTrueRatioAboutAsOftenAsItSays) {
  int covered = 0;
  constexpr int trials = 200, n = 30;
  for (int t = 0; t < trials; t++) {
    std::vector<double> a, b;
    for (int i = 0; i < n; i++) {
      const PositionNoise noise(uint64_t(t), 1, i);
      b.push_back(1 + noise.uniform(0));
      a.push_back(b.back() * 1.5 * std::exp(noise.uniform(1) - 0.5));
    }
    const Interval ratio = bootstrap_ratio(a, b, 0.9, 500, uint64_t(t));
    EXPECT_LE(ratio.low, ratio.estimate);
    EXPECT_LE(ratio.estimate, ratio.high);
    covered += ratio.low <= 1.5 && 1.5 <= ratio.high;
  }
  EXPECT_GE(covered, 160);
  EXPECT_LE(covered, 195);
}

TEST(Stats, BootstrapIsSeededAndHandlesSmallInput) {
  const std::vector<double> a = {2, 3, 5, 9}, b = {1, 2, 2, 3};
  const Interval x = bootstrap_ratio(a, b), y = bootstrap_ratio(a, b);
  EXPECT_EQ(x.low, y.low);
  EXPECT_EQ(x.high, y.high);
  const Interval one = bootstrap_ratio(std::vector<double>{6}, std::vector<double>{2});
  EXPECT_NEAR(one.low, 3, 1e-12);
  EXPECT_NEAR(one.high, 3, 1e-12);
  EXPECT_TRUE(std::isnan(bootstrap_ratio({}, {}).low));
}

}  // namespace
}  // namespace outrider
