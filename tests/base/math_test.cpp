#include "base/math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/noise.h"

namespace outrider {
namespace {

// Distance from the true value in units in the last place of the result's binade (subnormal spacing below 2^-1022).
double ulps(double got, long double want) {
  const double magnitude = std::max(std::fabs(double(want)), 0x1p-1022);
  const long double unit = std::ldexp(1.0L, std::ilogb(magnitude) - 52);
  return double(std::fabs((long double)got - want) / unit);
}

double uniform_in(int i, double low, double high) { return low + (high - low) * PositionNoise(7, 3, 1).uniform(i); }

TEST(Math, ExpIsWithinTwoUlps) {
  double worst = 0;
  for (int i = 0; i < 400000; i++) {
    const double range = i % 3 == 0 ? 700 : i % 3 == 1 ? 40 : 1e-3, x = uniform_in(i, -range, range);
    worst = std::max(worst, ulps(math::exp(x), std::exp((long double)x)));
  }
  for (int i = 0; i < 100000; i++) {
    const double x = uniform_in(i, -745, -700);
    worst = std::max(worst, ulps(math::exp(x), std::exp((long double)x)));
  }
  RecordProperty("worst_ulps", std::to_string(worst));
  EXPECT_LE(worst, 2) << worst;
}

TEST(Math, LogIsWithinTwoUlps) {
  double worst = 0;
  for (int i = 0; i < 400000; i++) {
    double x = uniform_in(i, 0, 1);
    if (i % 4 == 1) x = 1 + (x - 0.5) * 0.7;
    if (i % 4 == 2) x = std::ldexp(x, i % 2000 - 1040);
    if (i % 4 == 3) x = 1 + (x - 0.5) * std::ldexp(1.0, -(i % 50));
    if (x > 0) worst = std::max(worst, ulps(math::log(x), std::log((long double)x)));
  }
  EXPECT_LE(worst, 2) << worst;
  RecordProperty("worst_ulps", std::to_string(worst));
}

TEST(Math, SinCosAreWithinTwoUlpsUpToAMillion) {
  double worst = 0;
  const auto probe = [&](double x) {
    const auto [s, c] = math::sincos(x);
    worst = std::max({worst, ulps(s, std::sin((long double)x)), ulps(c, std::cos((long double)x))});
  };
  for (int i = 0; i < 400000; i++) probe(uniform_in(i, -1.5e6, 1.5e6));
  for (int i = 0; i < 100000; i++) probe(uniform_in(i, -10, 10));
  for (int i = 0; i < 300000; i++) probe(double(3 * i + 1) * 1.5707963267948966);  // next to multiples of pi/2, where bits cancel
  for (int i = 0; i < 1000000; i += 7) probe(i);
  EXPECT_LE(worst, 2) << worst;
  RecordProperty("worst_ulps", std::to_string(worst));
}

TEST(Math, PowIsWithinTwoUlps) {
  double worst = 0;
  for (int i = 0; i < 300000; i++) {
    const double base = std::exp2(uniform_in(i, -40, 40)), limit = std::min(60 / std::fabs(std::log(base)), 40.0);
    const double e = uniform_in(i + 1000000, -limit, limit);
    worst = std::max(worst, ulps(math::pow(base, e), std::pow((long double)base, (long double)e)));
  }
  for (int i = 0; i < 128; i++) worst = std::max(worst, ulps(math::pow(1e6, -i / 64.0), std::pow(1e6L, (long double)(-i / 64.0))));
  EXPECT_LE(worst, 2) << worst;
  EXPECT_EQ(math::pow(2, 10), 1024);
  EXPECT_EQ(math::pow(10, 3), 1000);
}

TEST(Math, EdgesFollowIeee) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(math::exp(0), 1);
  EXPECT_EQ(math::exp(-inf), 0);
  EXPECT_EQ(math::exp(inf), inf);
  EXPECT_EQ(math::exp(1000), inf);
  EXPECT_TRUE(std::isfinite(math::exp(709.78)));
  EXPECT_GT(math::exp(-744), 0);
  EXPECT_TRUE(std::isnan(math::exp(nan)));
  EXPECT_EQ(math::log(1), 0);
  EXPECT_EQ(math::log(0), -inf);
  EXPECT_EQ(math::log(inf), inf);
  EXPECT_TRUE(std::isnan(math::log(-1)));
  EXPECT_TRUE(std::isnan(math::log(nan)));
  EXPECT_EQ(math::sincos(0).cos, 1);
  EXPECT_EQ(math::sincos(0).sin, 0);
  EXPECT_TRUE(std::isnan(math::sincos(inf).sin));
  for (double x : {1e7, -3e12, 1e300}) {
    const auto [s, c] = math::sincos(x);
    EXPECT_NEAR(s * s + c * c, 1, 1e-12);
  }
  EXPECT_EQ(math::pow(7, 0), 1);
  EXPECT_EQ(math::pow(2, 5000), inf);
  EXPECT_EQ(math::pow(2, -5000), 0);
  EXPECT_TRUE(std::isnan(math::pow(-2, 2)));
}

// The bits are part of the contract: sampled text depends on them. A change here is a change of every seeded text.
TEST(Math, BitsAreFixed) {
  uint64_t hash = 0;
  const auto add = [&](double x) { hash = mix_bits(hash ^ std::bit_cast<uint64_t>(x)); };
  for (int i = 0; i < 2000; i++) {
    add(math::exp(uniform_in(i, -50, 50)));
    add(math::log(uniform_in(i, 0, 100)));
    add(math::sincos(uniform_in(i, -1e6, 1e6)).sin);
    add(math::sincos(uniform_in(i, -1e6, 1e6)).cos);
    add(math::pow(uniform_in(i, 0, 100), uniform_in(i, -10, 10)));
  }
  EXPECT_EQ(hash, 9447204595022891484ull);
}

}  // namespace
}  // namespace outrider
