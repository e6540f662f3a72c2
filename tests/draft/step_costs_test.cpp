#include "draft/step_costs.h"

#include <gtest/gtest.h>

#include <cmath>

namespace outrider {
namespace {

double staircase(int n) { return n <= 8 ? 25 + 0.4 * n : n <= 16 ? 40 + n * 0.5 : 3.3 * n; }

TEST(StepCosts, KnowsNothingAtFirst) {
  StepCosts c;
  EXPECT_FALSE(c.known(0));
  EXPECT_EQ(c.predict_ms(4, 100), 0);
  c.learn(16, 100, 50);  // what few rows cost must be seen first
  EXPECT_FALSE(c.known(100));
  c.learn(1, 100, 25);
  EXPECT_TRUE(c.known(100));
  EXPECT_EQ(c.predict_ms(1, 100), 25);
  EXPECT_GT(c.predict_ms(2, 100), 25);
}

TEST(StepCosts, LearnsAStaircase) {
  StepCosts c;
  for (int times = 0; times < 100; ++times)
    for (int n = 1; n <= 32; ++n) c.learn(n, 0, staircase(n));
  for (int n = 1; n <= 32; ++n) EXPECT_NEAR(c.predict_ms(n, 0) / staircase(n), 1, 0.04) << n;
}

// The machine halves its speed: everything is dearer within a few steps, though only one size is run.
TEST(StepCosts, FollowsTheMachine) {
  StepCosts c;
  for (int times = 0; times < 100; ++times)
    for (int n = 1; n <= 8; ++n) c.learn(n, 0, staircase(n));
  for (int times = 0; times < 12; ++times) c.learn(5, 0, 2 * staircase(5));
  EXPECT_NEAR(c.predict_ms(5, 0) / (2 * staircase(5)), 1, 0.1);
  EXPECT_GT(c.predict_ms(1, 0), 1.4 * staircase(1));
}

TEST(StepCosts, TwoRequestsTellWhatOneRowCosts) {
  StepCosts c;
  c.learn(2, 100, 25.5);
  EXPECT_NEAR(c.predict_ms(1, 100), 25, 0.01);
}

TEST(StepCosts, PromptsTellWhatManyRowsCost) {
  StepCosts c;
  c.learn(1, 0, 20);
  c.learn(128, 0, 128 * 3.0);
  EXPECT_NEAR(c.predict_ms(128, 0), 128 * 3, 1);
  EXPECT_NEAR(c.predict_ms(32, 0), 32 * 3 * 1.25, 1);
  EXPECT_NEAR(c.predict_ms(4, 0), 20 + 3 * 0.6 * 3, 0.1);
}

// Small models are bound by arithmetic early. A size that was never run must not look cheap, and one pass of it must nearly settle its price.
TEST(StepCosts, UnseenSizesAreNotCheap) {
  const auto small = [](int n) { return 4.0 + 0.34 * (n - 1) + (n > 8 ? 1.6 : 0); };
  StepCosts c;
  c.learn(128, 0, 128 * 0.67);
  for (int times = 0; times < 4; ++times) c.learn(1, 0, small(1));
  for (int n = 2; n <= 12; ++n) EXPECT_NEAR(c.predict_ms(n, 0) / small(n), 1, 0.2) << n;
  c.learn(11, 0, 1.4 * c.predict_ms(11, 0));
  const double seen = c.predict_ms(11, 0);
  c.learn(1, 0, small(1));
  EXPECT_GT(c.predict_ms(11, 0), 1.2 * c.predict_ms(1, 0) / small(1) * small(11));
  EXPECT_LT(c.predict_ms(1, 0), 1.15 * small(1));  // it was the size, not the machine
  EXPECT_GT(seen, 1.2 * small(11));
}

TEST(StepCosts, OneOddSampleDoesNotUpset) {
  StepCosts c;
  for (int times = 0; times < 50; ++times) c.learn(1, 0, 20);
  c.learn(1, 0, 900);
  EXPECT_LT(c.predict_ms(1, 0), 26);
  for (int times = 0; times < 4; ++times) c.learn(1, 0, 20);
  EXPECT_LT(c.predict_ms(1, 0), 21);
}

TEST(StepCosts, LongerContextsHavePricesOfTheirOwn) {
  StepCosts c;
  for (int times = 0; times < 20; ++times) c.learn(1, 100, 20), c.learn(1, 9000, 35);
  EXPECT_NEAR(c.predict_ms(1, 100), 20, 0.1);
  EXPECT_NEAR(c.predict_ms(1, 9000), 35, 0.1);
  EXPECT_NEAR(c.predict_ms(1, 3000), 20, 0.1);  // the nearest shorter one
}

// Prices of an earlier run hold at the pace of this one: the first pass tells it.
TEST(StepCosts, KeepsItsShapeBetweenRuns) {
  StepCosts before, after;
  for (int times = 0; times < 100; ++times)
    for (int n = 1; n <= 32; ++n) before.learn(n, 0, staircase(n));
  before.learn(128, 0, 400);
  Archive written;
  before.archive(written);
  Archive read(written.written());
  after.archive(read);
  EXPECT_TRUE(read.whole());
  after.learn(128, 0, 900);  // reading the prompt tells less of the pace than a row alone
  after.learn(1, 0, 2 * staircase(1));
  for (int n = 1; n <= 32; ++n) EXPECT_NEAR(after.predict_ms(n, 0) / (2 * staircase(n)), 1, 0.05) << n;
}

// Prices of a run beside which others worked: the first pass of the next tells how much of them was the others' doing, for all sizes.
TEST(StepCosts, AnotherRunsLoadDoesNotStayInThePrices) {
  StepCosts before, after;
  for (int times = 0; times < 50; ++times) {
    for (const int n : {1, 2, 4, 8}) before.learn(n, 0, 4 * staircase(n));
    before.learn(128, 0, 4 * 128 * 3.0);
  }
  Archive written;
  before.archive(written);
  Archive read(written.written());
  after.archive(read);
  EXPECT_EQ(after.pace(), 1);
  after.learn(1, 0, staircase(1));
  EXPECT_NEAR(after.pace(), 0.25, 0.02);
  for (int times = 0; times < 50; ++times) {
    for (const int n : {1, 2, 4, 8}) EXPECT_NEAR(after.predict_ms(n, 0) / staircase(n), 1, 0.1) << n;
    EXPECT_NEAR(after.predict_ms(128, 0), 128 * 3.0, 30);
    after.learn(1, 0, staircase(1));
  }
}

TEST(StepCosts, UnsoundPricesAreNotBelieved) {
  StepCosts before;
  before.learn(1, 0, 25);
  Archive written;
  before.archive(written);
  for (const int pattern : {0xff, 0x7f, 0x80}) {
    std::vector<std::byte> bytes(written.written().size(), std::byte(pattern));
    StepCosts after;
    Archive read{std::span<const std::byte>(bytes)};
    after.archive(read);
    after.learn(1, 0, 25);
    for (int n = 1; n <= 40; ++n) {
      EXPECT_TRUE(after.predict_ms(n, 0) > 0 && std::isfinite(after.predict_ms(n, 0))) << pattern << " " << n;
    }
  }
}

}  // namespace
}  // namespace outrider
