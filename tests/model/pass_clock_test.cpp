#include "model/pass_clock.h"

#include <gtest/gtest.h>

namespace outrider {
namespace {

TEST(PassClock, PartsFollowEachOtherAndAddUpToTheWhole) {
  FakeClock clock;
  ThreadPool pool(1);
  PassClock parts(clock, pool);
  clock.time_ms = 100;
  parts.start();
  clock.time_ms = 103;
  parts.done(PassPart::quantise_norm);
  clock.time_ms = 110;
  parts.done(PassPart::down);
  parts.multiplied(PassPart::down, 64, 1000);
  clock.time_ms = 111;
  parts.done(PassPart::quantise_norm);
  EXPECT_EQ(parts.part(PassPart::quantise_norm).ms, 4);
  EXPECT_EQ(parts.part(PassPart::down).ms, 7);
  EXPECT_EQ(parts.part(PassPart::down).products, 1000);
  double sum = 0;
  for (const PassClock::Part& part : parts.parts()) sum += part.ms;
  EXPECT_EQ(sum, 11);
  parts.start();
  EXPECT_EQ(parts.part(PassPart::down).bytes, 0);
}

}  // namespace
}  // namespace outrider
