#include "draft/likely.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace outrider {
namespace {

std::vector<int32_t> list(const LikelyTokens& likely) { return {likely.tiles().begin(), likely.tiles().end()}; }

TEST(LikelyTokens, BeginsWithThePrefixAndTheTokensThatAreAlwaysIn) {
  const int32_t always[] = {1000, 1001, 5, 990, 2000, -1};
  const LikelyTokens likely(1005, always, {.prefix = 40});
  EXPECT_EQ(list(likely), (std::vector<int32_t>{0, 1, 2, 61, 62}));  // 990 / 16 = 61; ids beyond the vocabulary are nobody's
  EXPECT_TRUE(likely.contains(47) && likely.contains(1004) && likely.contains(976));
  EXPECT_FALSE(likely.contains(48) || likely.contains(1005) || likely.contains(-1));
}

TEST(LikelyTokens, TextAddsItsTilesInOrderAndOnce) {
  LikelyTokens likely(1000, {}, {.prefix = 16, .most_outside = 1});
  const int32_t text[] = {500, 3, 100, 501, 999, 500, 5000, -7, 100};
  likely.add(text);
  EXPECT_EQ(list(likely), (std::vector<int32_t>{0, 6, 31, 62}));
  likely.clear();
  EXPECT_EQ(list(likely), (std::vector<int32_t>{0}));
  EXPECT_FALSE(likely.contains(500));
}

TEST(LikelyTokens, AnotherLanguageDoublesThePrefix) {
  LikelyTokens likely(16000, {}, {.prefix = 1000, .most_outside = 0.15});
  std::vector<int32_t> familiar(200), foreign(100);
  for (int i = 0; i < 200; ++i) familiar[size_t(i)] = i % 8 ? i : 4000 + 16 * i;  // one of eight is new
  likely.add(familiar);
  EXPECT_EQ(likely.prefix(), 1000);
  for (int i = 0; i < 100; ++i) foreign[size_t(i)] = i % 3 ? i : 9000 + 16 * i;
  likely.add(foreign);
  EXPECT_GT(likely.prefix(), 1000);
  EXPECT_TRUE(likely.contains(familiar[0]) && likely.contains(foreign[99])) << "what was in stays in";
  EXPECT_TRUE(std::is_sorted(likely.tiles().begin(), likely.tiles().end()));
  likely.clear();
  EXPECT_EQ(likely.prefix(), 1000);
  EXPECT_EQ(likely.tiles().size(), 63u);
}

TEST(LikelyTokens, NeverMoreThanTheVocabularyAndNoMemoryTakenLater) {
  LikelyTokens likely(1003, {}, {.prefix = 100, .most_outside = 0.01});
  const int32_t* first = likely.tiles().data();
  std::vector<int32_t> all(1003);
  std::iota(all.rbegin(), all.rend(), 0);
  likely.add(all);
  EXPECT_EQ(likely.tiles().size(), 63u);
  EXPECT_EQ(likely.prefix(), 1003);
  EXPECT_EQ(likely.tiles().data(), first);
  EXPECT_EQ(LikelyTokens(1003, {}, {.prefix = 1 << 20}).tiles().size(), 63u);
}

}  // namespace
}  // namespace outrider
