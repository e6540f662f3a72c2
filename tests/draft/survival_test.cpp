#include "draft/survival.h"

#include <gtest/gtest.h>

namespace outrider {
namespace {

TEST(Survival, StartsAtThePriorAndGoesToWhatIsSeen) {
  Survival s;
  const Guess sure{5, 3, 0.9f};
  EXPECT_FLOAT_EQ(s.single(1, sure), 0.9f);
  for (int i = 0; i < 400; ++i) s.count_single(1, 3, i % 4 == 0);
  EXPECT_NEAR(s.single(1, sure), 0.25, 0.08);
  EXPECT_FLOAT_EQ(s.single(1, {5, 4, 0.9f}), 0.9f);  // another class
  EXPECT_FLOAT_EQ(s.single(0, sure), 0.9f);          // another source
}

TEST(Survival, ForgetsWithinAHundred) {
  Survival s;
  const Guess g{5, 0, 0.5f};
  for (int i = 0; i < 1000; ++i) s.count_single(0, 0, true);
  for (int i = 0; i < 150; ++i) s.count_single(0, 0, false);
  EXPECT_LT(s.single(0, g), 0.3f);
}

// Two sources that say the same because they read the same are no surer together than what came of it.
TEST(Survival, AgreementIsCountedNotMultiplied) {
  Survival s;
  for (int i = 0; i < 300; ++i) s.count_joint(0b011, 0.7f, 0, i % 10 < 7);
  EXPECT_NEAR(s.joint(0b011, 0.7f, 0, 0.7f), 0.7, 0.06);
  EXPECT_FLOAT_EQ(s.joint(0b011, 0.7f, 0.5f, 0.4f), 0.4f);  // against a rival is another case
  EXPECT_FLOAT_EQ(s.joint(0b101, 0.7f, 0, 0.8f), 0.8f);
}

// The first surprises of a text move its mood most; it still follows a change.
TEST(Mood, StepsBecomeSmallerAndNeverNothing) {
  Mood mood;
  mood.learn(0.8f, false);
  const float first = 0.8f - mood.shifted(0.8f);
  for (int i = 0; i < 400; ++i) mood.learn(mood.shifted(0.8f), i % 5 != 0);
  const float settled = mood.shifted(0.8f);
  EXPECT_NEAR(settled, 0.8f, 0.06f);
  mood.learn(settled, false);
  EXPECT_GT(first, 2 * (settled - mood.shifted(0.8f)));
  for (int i = 0; i < 20; ++i) mood.learn(mood.shifted(0.8f), false);
  EXPECT_LT(mood.shifted(0.8f), 0.55f);
}

TEST(Survival, CountsAreKeptBetweenRuns) {
  Survival before, after;
  for (int i = 0; i < 50; ++i) before.count_single(1, 3, i % 4 == 0), before.count_joint(2, 0.4f, 0.1f, i % 2 == 0);
  Archive written;
  before.archive(written);
  Archive read(written.written());
  after.archive(read);
  EXPECT_TRUE(read.whole());
  EXPECT_EQ(after.single(1, {0, 3, 0.9f}), before.single(1, {0, 3, 0.9f}));
  EXPECT_EQ(after.joint(2, 0.4f, 0.1f, 0.9f), before.joint(2, 0.4f, 0.1f, 0.9f));
}

// Whatever the bytes: a survival is a probability.
TEST(Survival, UnsoundCountsAreNotBelieved) {
  Archive written;
  Survival().archive(written);
  uint32_t state = 1;
  for (int times = 0; times < 20; ++times) {
    std::vector<std::byte> bytes(written.written().size());
    for (std::byte& b : bytes) state = state * 1664525u + 1013904223u, b = std::byte(state >> 24);
    Survival after;
    Archive read{std::span<const std::byte>(bytes)};
    after.archive(read);
    for (int evidence = 0; evidence < kEvidence; ++evidence) {
      const float s = after.single(0, {0, evidence, 0.5f});
      EXPECT_TRUE(s >= 0 && s <= 1) << s;
    }
  }
}

}  // namespace
}  // namespace outrider
