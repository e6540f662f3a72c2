#include <gtest/gtest.h>

#include <set>

#include "measure/lossless.h"
#include "measure/prompts.h"

namespace outrider {
namespace {

TEST(Arms, AFewCoverEveryPairOfSettings) {
  const std::vector<ArmDrafter> drafters{ArmDrafter::fuzz, ArmDrafter::lookup, ArmDrafter::model, ArmDrafter::all};
  const auto arms = covering_arms(drafters, true, true, 1);
  EXPECT_LE(arms.size(), 24u);
  std::set<std::tuple<int, int, int>> seen;  // drafter × two-way setting × value
  for (const VerifyArm& a : arms) {
    const bool settings[] = {a.one_thread, a.quantised_kv, a.quantised_draft_kv, a.sampled, a.penalties, a.two_requests, a.narrow_kernels};
    for (int i = 0; i < 7; ++i) seen.insert({int(a.drafter), i, settings[i]});
    EXPECT_GE(a.length, 1);
    EXPECT_LE(a.length, 16);
  }
  EXPECT_EQ(seen.size(), 4u * 7 * 2);
  std::set<int> bands;
  for (const VerifyArm& a : arms) bands.insert(a.length == 1 ? 0 : a.length < 4 ? 1 : a.length < 8 ? 2 : a.length < 16 ? 3 : 4);
  EXPECT_EQ(bands.size(), 5u);
  EXPECT_EQ(arm_text(covering_arms(drafters, true, true, 1)[3]), arm_text(arms[3]));  // the same seed, the same arms
}

TEST(Arms, WhatCannotBeHadIsLeftOut) {
  for (const VerifyArm& a : covering_arms({ArmDrafter::lookup}, false, false, 5)) EXPECT_TRUE(!a.quantised_kv && !a.narrow_kernels && a.drafter == ArmDrafter::lookup);
  EXPECT_EQ(all_arms({ArmDrafter::lookup}, true).size(), 16u * 16);
  EXPECT_EQ(all_arms({ArmDrafter::lookup, ArmDrafter::fuzz}, false).size(), 2u * 16 * 8);
}

TEST(Prompts, GoodLinesAreReadAndBadOnesNamed) {
  const auto good = parse_prompts("{\"id\":\"a\",\"task\":\"code\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"max_tokens\":5,\"more\":1}\n\n"
                                  "{\"messages\":[{\"role\":\"user\",\"content\":\"y\"}]}\n", "set");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->size(), 2u);
  EXPECT_EQ((*good)[0].max_tokens, 5);
  EXPECT_EQ((*good)[1].id, "line 3");
  for (const char* bad : {"{", "[]", "{\"messages\":5}", "{\"messages\":[]}", "{\"messages\":[{\"role\":1,\"content\":\"x\"}]}", "{\"messages\":[{\"role\":\"user\"}]}"}) {
    const auto r = parse_prompts(bad, "set");
    ASSERT_FALSE(r.ok()) << bad;
    EXPECT_NE(r.error().message.find("set, line 1"), std::string::npos);
  }
  EXPECT_FALSE(parse_prompts("\n", "set").ok());
}

}  // namespace
}  // namespace outrider
