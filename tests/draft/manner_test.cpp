#include "draft/manner.h"

#include <gtest/gtest.h>

namespace outrider {
namespace {

Manner bad() {
  Manner m;
  for (int i = 0; i < 40; ++i) m.mood[0].learn(m.mood[0].shifted(0.8f), false);
  m.gain = -0.5f, m.after = 0.1f;
  return m;
}

TEST(Manner, ATextBeginsInTheMannerOfThoseBefore) {
  UsualManner usual;
  const float at_first = usual.get().mood[0].shifted(0.8f);
  for (int i = 0; i < 3; ++i) usual.learn(bad(), 200, true);
  EXPECT_LT(usual.get().mood[0].shifted(0.8f), at_first - 0.1f);
  EXPECT_LT(usual.get().gain, Manner::kGain);
  EXPECT_GE(usual.get().gain, 0);  // texts that do not suit the model are soon left alone
}

TEST(Manner, AShortTextSaysLittle) {
  UsualManner usual;
  usual.learn(bad(), 2, true);
  EXPECT_NEAR(usual.get().mood[0].shifted(0.8f), 0.8f, 0.01f);
}

// A model that was not asked for a while is given another chance; what the sources taught goes on.
TEST(Manner, AModelIsNotForgottenForEver) {
  UsualManner usual;
  for (int i = 0; i < 30; ++i) usual.learn(bad(), 200, true);
  const float low = usual.get().gain;
  EXPECT_LT(low, 0.02f);
  for (int i = 0; i < 20; ++i) usual.learn(Manner(), 200, false);
  EXPECT_GT(usual.get().gain, 0.05f);
}

}  // namespace
}  // namespace outrider
