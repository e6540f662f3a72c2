// Acceptance by rejection emits the target's distribution, exactly, whatever drafts were drawn from.
#include "sample/reject.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace outrider {
namespace {

constexpr int kTokens = 4, kRuns = 40000;
using Row = std::vector<TokenProbability>;

// What a stand-in for a model says after `previous`: some tokens may be missing.
Row row_of(uint64_t model, int32_t previous, double spread, bool cut) {
  Row row;
  double sum = 0;
  for (int32_t t = 0; t < kTokens; t++) {
    if (cut && (uint64_t(t) + model + uint64_t(previous)) % 4 == 0) continue;
    row.push_back({t, float(std::exp(PositionNoise(model, 5, previous).gumbel(t) * spread))});
    sum += double(row.back().probability);
  }
  for (TokenProbability& t : row) t.probability = float(double(t.probability) / sum);
  return row;
}

struct Case {
  uint64_t target, drafter;
  double spread;
  bool cut;
  int places;     // drafted in a round
  bool certain;   // the drafter names one token instead of drawing
};
const std::vector<Case> kCases = {{1, 2, 1, false, 1, false}, {1, 2, 2, false, 2, false}, {3, 4, 1, true, 2, false}, {5, 5, 1, false, 2, false},
                                  {6, 7, 0.5, false, 3, false}, {8, 9, 1, false, 2, true}, {10, 11, 1, true, 3, true}};

struct Round {
  Acceptance acceptance;
  DraftTree tree;
};

// One round after `pending`, the token at `position` − 1.
Round round_of(const Case& c, uint64_t seed, int32_t pending, int64_t position) {
  const RejectionNoise noise{seed, 0};
  Round round{{}, DraftTree(pending)};
  std::array<Distribution, kMaxDraftRows> drawn_from{};
  std::vector<Row> rows;
  rows.reserve(size_t(c.places));
  for (int place = 0; place < c.places; place++) {
    rows.push_back(row_of(c.drafter, round.tree.tokens[size_t(place)], c.spread, false));
    const int32_t token = c.certain ? (round.tree.tokens[size_t(place)] + 1) % kTokens : draw(rows.back(), noise.draft(position + place, place));
    const int row = round.tree.add(token, place);
    if (!c.certain) drawn_from[size_t(row)] = rows.back();
  }
  Row p;
  const auto target = [&](int row) { return std::span(p = row_of(c.target, round.tree.tokens[size_t(row)], 1, c.cut)); };
  const auto choose = [&](int row) {  // noise of the sampler's own stream
    return draw(row_of(c.target, round.tree.tokens[size_t(row)], 1, c.cut), PositionNoise(seed, 0, position + row).uniform(0));
  };
  round.acceptance = accept_by_rejection(round.tree, drawn_from, noise, position, target, choose);
  return round;
}

// The first `length` tokens after token 0, in as many rounds as it takes.
std::vector<int32_t> text_of(const Case& c, uint64_t seed, int length) {
  std::vector<int32_t> text{0};
  while (int(text.size()) <= length) {
    const Round r = round_of(c, seed, text.back(), int64_t(text.size()));
    for (const int32_t row : r.acceptance.path().subspan(1)) text.push_back(r.tree.tokens[size_t(row)]);
    text.push_back(r.acceptance.next);
  }
  return {text.begin() + 1, text.begin() + 1 + length};
}

// χ² of the texts of three tokens, which cross the borders of rounds, against their exact probabilities.
TEST(Reject, TextsHaveTheTargetsDistribution) {
  for (size_t i = 0; i < kCases.size(); i++) {
    const Case& c = kCases[i];
    std::array<int, kTokens * kTokens * kTokens> count{};
    for (int run = 0; run < kRuns; run++) {
      const auto text = text_of(c, uint64_t(run) + 1000 * i, 3);
      count[size_t((text[0] * kTokens + text[1]) * kTokens + text[2])]++;
    }
    double chi = 0;
    int cells = 0;
    for (int32_t x = 0; x < kTokens; x++) {
      for (int32_t y = 0; y < kTokens; y++) {
        for (int32_t z = 0; z < kTokens; z++) {
          const double p = double(probability_of(row_of(c.target, 0, 1, c.cut), x)) * double(probability_of(row_of(c.target, x, 1, c.cut), y)) *
                           double(probability_of(row_of(c.target, y, 1, c.cut), z));
          const int seen = count[size_t((x * kTokens + y) * kTokens + z)];
          ASSERT_TRUE(p > 0 || seen == 0);
          if (p * kRuns < 5) continue;
          chi += (seen - p * kRuns) * (seen - p * kRuns) / (p * kRuns), cells++;
        }
      }
    }
    ASSERT_GT(cells, 3);
    EXPECT_LT(chi, cells + 3.5 * std::sqrt(2.0 * cells)) << "case " << i;
  }
}

TEST(Reject, TokensStandAsOftenAsPossible) {
  for (const Case& c : kCases) {
    const Row p = row_of(c.target, 0, 1, c.cut), q = row_of(c.drafter, 0, c.spread, false);
    double expected = 0;
    for (const TokenProbability& t : q) expected += double(std::min(t.probability, probability_of(p, t.token)));
    expected = c.certain ? double(probability_of(p, 1)) : std::min(expected, 1.0);
    int stood = 0;
    for (int run = 0; run < kRuns; run++) stood += round_of(c, uint64_t(run), 0, 1).acceptance.accepted() > 0;
    EXPECT_NEAR(double(stood) / kRuns, expected, 3.5 * std::sqrt(expected * (1 - expected) / kRuns) + 1e-9);
  }
}

TEST(Reject, OnlyTheChainIsFollowed) {
  DraftTree tree(0);
  tree.add(1, tree.add(1, 0));
  tree.add(2, 0);  // a sibling
  tree.add(3, 2);  // not behind the row before it
  int chosen_at = -1;
  Row sure;
  const auto target = [&](int) { return std::span(sure = {{1, 1}}); };
  const Acceptance a = accept_by_rejection(tree, std::array<Distribution, kMaxDraftRows>{}, {1, 0}, 1, target, [&](int row) { return chosen_at = row, 9; });
  EXPECT_EQ(a.length, 3);
  EXPECT_EQ(a.next, 9);
  EXPECT_EQ(chosen_at, 2);
}

TEST(Reject, WhatIsLeft) {
  Row p = {{1, 0.5f}, {4, 0.5f}};
  EXPECT_EQ(token_instead(p, {}, 1, 0.9), 4);  // a certain guess falls: p without it
  p = {{1, 0.5f}, {4, 0.5f}};
  EXPECT_EQ(token_instead(p, Row{{0, 0.1f}, {4, 0.9f}}, 4, 0.9), 1);
  p = {{1, 0.5f}, {4, 0.5f}};
  EXPECT_EQ(token_instead(p, Row{{1, 0.5f}, {4, 0.5f}}, 4, 0.9), 4) << "nothing left";
  EXPECT_FALSE(token_stands(p, {}, 2, 0.0001)) << "what the target never says";
}

}  // namespace
}  // namespace outrider
