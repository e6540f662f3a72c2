#include "measure/roofline.h"

#include <gtest/gtest.h>

#include <cmath>

namespace outrider {
namespace {

TEST(Roofline, ProbesThatDisagreeByMoreThanFifteenPercentAreUnsteady) {
  EXPECT_FALSE(unsteady({100, 1000}, {100, 1000}));
  EXPECT_FALSE(unsteady({100, 1000}, {114, 1000}));
  EXPECT_TRUE(unsteady({100, 1000}, {116, 1000}));
  EXPECT_TRUE(unsteady({116, 1000}, {100, 1000}));
  EXPECT_TRUE(unsteady({100, 1000}, {100, 800}));
}

TEST(Roofline, IdealIsTheLargerLimitAtTheMeanOfTheProbes) {
  RooflineRow row{.n = 1, .bytes = 1'000'000'000, .products = 4'000'000'000};
  row.samples = {{50, {40, 1000}, {40, 1000}}, {60, {20, 1000}, {20, 1000}}, {9, {40, 100}, {40, 100}}, {1000, {10, 1000}, {40, 1000}}};
  EXPECT_DOUBLE_EQ(row.ideal_ms(row.samples[0]), 25);  // memory
  EXPECT_DOUBLE_EQ(row.ideal_ms(row.samples[1]), 50);
  EXPECT_DOUBLE_EQ(row.ideal_ms(row.samples[2]), 40);  // dots
  EXPECT_DOUBLE_EQ(row.ideal_ms(row.samples[3]), 40);
  EXPECT_EQ(row.kept(), 3);  // the last stands between probes that disagree
  EXPECT_DOUBLE_EQ(row.ms(0.5), 50);
  EXPECT_DOUBLE_EQ(row.ideal_ms(), 40);
  EXPECT_DOUBLE_EQ(row.ratio(), 1.2);
  row.samples.erase(row.samples.begin(), row.samples.begin() + 3);
  EXPECT_TRUE(std::isnan(row.ms(0.5)) && std::isnan(row.ratio()));
}

}  // namespace
}  // namespace outrider
