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

}  // namespace
}  // namespace outrider
