#include "draft/recycle.h"

#include <gtest/gtest.h>

#include "support/guesses.h"

namespace outrider {
namespace {

using test::Tokens, test::tokens;

TopTokens top(const Tokens& tokens, const std::vector<float>& probabilities) {
  TopTokens t;
  std::copy(tokens.begin(), tokens.end(), t.token.begin());
  std::copy(probabilities.begin(), probabilities.end(), t.probability.begin());
  return t;
}

Guesses recalled(const RecycleSource& source, int32_t previous, int32_t token) {
  Guesses out;
  source.recall(previous, token, out);
  return out;
}

TEST(Recycle, APairIsKnownBetterThanItsLastToken) {
  RecycleSource source;
  source.learn(1, 2, top({10, 11, 12, 13, 14}, {0.5f, 0.2f, 0.1f, 0.05f, 0.01f}));
  source.learn(9, 2, top({20, 21}, {0.9f, 0.1f}));
  EXPECT_EQ(tokens(recalled(source, 1, 2)), (Tokens{10, 11, 12, 13}));
  EXPECT_EQ(tokens(recalled(source, 9, 2)), (Tokens{20, 21}));
  const Guesses unknown = recalled(source, 5, 2);  // of what followed 2, the newest comes first
  ASSERT_EQ(unknown.count, 4);
  EXPECT_EQ(unknown.list[0].token, 20);
  EXPECT_EQ(unknown.list[1].token, 10);
  EXPECT_NE(unknown.list[0].evidence, recalled(source, 9, 2).list[0].evidence);
  EXPECT_EQ(recalled(source, 1, 3).count, 0);
}

TEST(Recycle, WhatIsConfirmedIsBelievedMore) {
  RecycleSource source;
  const TopTokens sure = top({10, 11}, {0.995f, 0.004f}), other = top({11, 10}, {0.9f, 0.05f});
  source.learn(1, 2, sure);
  const Guess once = recalled(source, 1, 2).list[0];
  source.learn(1, 2, sure);
  const Guess again = recalled(source, 1, 2).list[0];
  EXPECT_GT(again.prior, once.prior);
  EXPECT_NE(again.evidence, once.evidence);
  source.learn(1, 2, other), source.learn(1, 2, other);
  EXPECT_EQ(recalled(source, 1, 2).list[0].token, 11);  // the newest thoughts weigh most
  EXPECT_EQ(recalled(source, 1, 2).list[1].token, 10);
}

TEST(Recycle, ClassesAreInRangeAndPriorsFallWithTheProbability) {
  for (const float p : {0.001f, 0.05f, 0.15f, 0.3f, 0.5f, 0.8f, 0.97f, 1.0f})
    for (int times = 1; times < 5; ++times) {
      RecycleSource source;
      for (int i = 0; i < times; ++i) source.learn(-1, 0, top({3, 4, 5, 6}, {p, p / 2, p / 3, p / 4}));
      for (const int32_t previous : {-1, 7}) {
        const Guesses g = recalled(source, previous, 0);
        ASSERT_EQ(g.count, 4);
        for (int i = 0; i < g.count; ++i) {
          EXPECT_TRUE(g.list[size_t(i)].evidence >= 0 && g.list[size_t(i)].evidence < kEvidence);
          EXPECT_TRUE(g.list[size_t(i)].prior > 0 && g.list[size_t(i)].prior < 1);
        }
      }
    }
}

TEST(Recycle, ReadersFollowTextAndPath) {
  RecycleSource source;
  source.learn(-1, 1, top({30}, {1}));
  source.learn(1, 2, top({10}, {1}));
  source.learn(2, 10, top({11}, {1}));
  source.learn(10, 11, top({12}, {1}));
  const auto guess = [](const Reader& reader, const Tokens& drafted) {
    Guesses out;
    reader.guess(drafted, out);
    return tokens(out);
  };
  SourceRequest request;
  auto reader = std::move(*source.open(request));
  EXPECT_EQ(guess(*reader, {}), Tokens{});
  EXPECT_EQ(guess(*reader, {1}), Tokens{30});
  reader->append(Tokens{1});
  EXPECT_EQ(guess(*reader, {}), Tokens{30});
  EXPECT_EQ(guess(*reader, {2}), Tokens{10});
  EXPECT_EQ(guess(*reader, {2, 10}), Tokens{11});
  reader->append(Tokens{2, 10, 11});
  EXPECT_EQ(guess(*reader, {}), Tokens{12});
  const Tokens prompt{7, 1, 2};
  request.prompt = prompt;
  EXPECT_EQ(guess(**source.open(request), {}), Tokens{10});
}

TEST(Recycle, TheNewestOfTwoInOneSlotStays) {
  RecycleSource source({.pairs = 2, .tokens = 2});
  for (int32_t t = 0; t < 50; ++t) source.learn(t, t + 1, top({t + 100}, {1}));
  int known = 0;
  for (int32_t t = 0; t < 50; ++t) {
    const Guesses g = recalled(source, t, t + 1);
    known += g.count;
    for (const Guess& guess : g.all()) EXPECT_EQ(guess.token, t + 100);  // never another pair's
  }
  EXPECT_TRUE(known >= 1 && known <= 4);
  EXPECT_EQ(tokens(recalled(source, 49, 50)), Tokens{149});
}

}  // namespace
}  // namespace outrider
