#include "draft/ngram.h"

#include <gtest/gtest.h>

#include "draft/pace.h"

namespace outrider {
namespace {

std::vector<int32_t> drafted(NgramDrafter& d, const std::vector<int32_t>& committed, int32_t pending, int budget) {
  Draft draft;
  draft.reset(pending);
  DraftJob job{1, committed, pending, budget, &draft};
  d.propose({&job, 1});
  std::vector<int32_t> tokens;
  for (int row = 1; row < draft.tree.size; ++row) {
    EXPECT_EQ(draft.tree.parents[size_t(row)], row - 1);  // a chain
    tokens.push_back(draft.tree.tokens[size_t(row)]);
  }
  return tokens;
}

NgramDrafter make(int max = 8, int match = 2) {
  NgramDrafter::Options o;
  o.limits.max = max, o.shortest_match = match;
  return NgramDrafter(o);
}

TEST(Ngram, ContinuesTheLongestMatch) {
  auto d = make();
  const std::vector<int32_t> text{1, 2, 3, 10, 11, 12, 9, 2, 3, 20, 21, 5, 1, 2};
  ASSERT_TRUE(d.begin(1, text, {}).ok());
  // «… 1 2 3»: the match of three at the start beats the later one of two.
  const auto tokens = drafted(d, text, 3, 8);
  ASSERT_GE(tokens.size(), 3u);
  EXPECT_EQ(tokens[0], 10);
  EXPECT_EQ(tokens[1], 11);
}

TEST(Ngram, TheLatestOfEqualMatchesWins) {
  auto d = make();
  const std::vector<int32_t> text{7, 8, 1, 0, 7, 8, 2, 0, 7};
  ASSERT_TRUE(d.begin(1, text, {}).ok());
  EXPECT_EQ(drafted(d, text, 8, 3)[0], 2);
}

TEST(Ngram, SaysNothingWithoutAMatchOrRoom) {
  auto d = make();
  const std::vector<int32_t> text{1, 2, 3, 4, 5};
  ASSERT_TRUE(d.begin(1, text, {}).ok());
  EXPECT_TRUE(drafted(d, text, 6, 8).empty());
  auto e = make(8, 2);
  const std::vector<int32_t> again{1, 2, 3, 1};
  ASSERT_TRUE(e.begin(1, again, {}).ok());
  EXPECT_EQ(drafted(e, again, 2, 1).size(), 1u);
}

TEST(Ngram, FollowsTheAnswerAndItsLimits) {
  auto d = make(3, 2);
  std::vector<int32_t> text{5, 6, 7, 8, 9};
  ASSERT_TRUE(d.begin(1, text, {}).ok());
  text.insert(text.end(), {1, 5});  // the answer went on
  EXPECT_EQ(drafted(d, text, 6, 8), (std::vector<int32_t>{7, 8, 9}));
  d.end(1);
  ASSERT_TRUE(d.begin(1, text, {}).ok());
}

TEST(Pace, PausesWhenItLosesAndComesBack) {
  Pace p;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(p.open());
    p.record(0.5);
  }
  int open = 0;
  for (int i = 0; i < 400; ++i) {
    if (!p.open()) continue;
    ++open;
    p.record(-0.6);
  }
  EXPECT_LT(open, 60);  // the pauses grow
  EXPECT_GT(open, 5);   // and it keeps trying
}

}  // namespace
}  // namespace outrider
