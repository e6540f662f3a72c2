#include "draft/lookup.h"

#include <gtest/gtest.h>

#include <random>

#include "support/guesses.h"

namespace outrider {
namespace {

using test::Tokens, test::tokens;

std::unique_ptr<Reader> read(LookupSource& source, const Tokens& prompt) {
  SourceRequest request;
  request.prompt = prompt, request.context = 64;
  auto reader = source.open(request);
  EXPECT_TRUE(reader.ok());
  return std::move(*reader);
}

Guesses guesses(const Reader& reader, const Tokens& drafted = {}) {
  Guesses out;
  reader.guess(drafted, out);
  return out;
}

TEST(Lookup, TheLongestMatchComesFirstAndTheOthersAfterIt) {
  LookupSource source;
  // Before this «1 2 3» stood once, a shorter «2 3» twice, and «3» alone once more.
  const auto reader = read(source, {1, 2, 3, 10, 9, 2, 3, 20, 8, 2, 3, 20, 3, 30, 1, 2, 3});
  const Guesses g = guesses(*reader);
  EXPECT_EQ(tokens(g), (Tokens{10, 20, 30}));
  EXPECT_GT(g.list[0].prior, g.list[1].prior);
  EXPECT_NE(g.list[0].evidence, g.list[1].evidence);
}

TEST(Lookup, TheMoreFrequentOfEqualMatchesThenTheLatest) {
  LookupSource source;
  EXPECT_EQ(tokens(guesses(*read(source, {7, 1, 7, 1, 7, 2, 7, 3, 7}))), (Tokens{1, 3, 2}));
}

TEST(Lookup, SaysNothingOfWhatIsNew) {
  LookupSource source;
  EXPECT_EQ(guesses(*read(source, {1, 2, 3, 4, 5})).count, 0);
  EXPECT_EQ(guesses(*read(source, {})).count, 0);
}

TEST(Lookup, GoesOnInAPeriodicText) {
  LookupSource source;
  const auto reader = read(source, {1, 2, 3, 1});
  Tokens path;
  for (const int32_t expected : {2, 3, 1, 2, 3, 1, 2, 3}) {  // further than the text has tokens
    const Guesses g = guesses(*reader, path);
    ASSERT_GT(g.count, 0);
    EXPECT_EQ(g.list[0].token, expected);
    path.push_back(expected);
  }
  EXPECT_EQ(tokens(guesses(*reader, {8, 9, 8})), Tokens{9});  // a period that only the path has
}

TEST(Lookup, ClassesTellMatchesApart) {
  LookupSource source;
  const Guess only = guesses(*read(source, {1, 2, 3, 4, 1, 2, 3})).list[0];
  const Guess longer = guesses(*read(source, {0, 1, 2, 3, 4, 9, 0, 1, 2, 3})).list[0];
  const Guess agreed = guesses(*read(source, {1, 2, 3, 4, 9, 1, 2, 3, 4, 8, 1, 2, 3})).list[0];
  const Guess contested = guesses(*read(source, {1, 2, 3, 4, 9, 1, 2, 3, 5, 8, 1, 2, 3})).list[0];
  EXPECT_GT(longer.prior, only.prior);
  EXPECT_GT(agreed.prior, only.prior);
  EXPECT_LT(contested.prior, only.prior);
  EXPECT_NE(longer.evidence, only.evidence);
  EXPECT_NE(agreed.evidence, only.evidence);
  EXPECT_NE(contested.evidence, only.evidence);
}

TEST(Lookup, ADraftedPathCountsAsText) {
  std::mt19937 random(7);
  LookupSource source;
  for (int round = 0; round < 300; ++round) {
    Tokens text(12), path(1 + round % 8);
    for (int32_t& t : text) t = int32_t(random() % 5);
    for (int32_t& t : path) t = int32_t(random() % 5);
    const auto drafting = read(source, text), emitted = read(source, text);
    emitted->append(path);
    const Guesses a = guesses(*drafting, path), b = guesses(*emitted);
    ASSERT_EQ(tokens(a), tokens(b));
    for (int i = 0; i < a.count; ++i) {
      EXPECT_EQ(a.list[size_t(i)].evidence, b.list[size_t(i)].evidence);
      EXPECT_TRUE(a.list[size_t(i)].evidence >= 0 && a.list[size_t(i)].evidence < kEvidence);
      EXPECT_GT(a.list[size_t(i)].prior, 0);
    }
  }
}

TEST(Lookup, ForgetsTheOldestBeyondTheContext) {
  LookupSource source;
  const auto reader = read(source, {1, 2, 3, 4});
  for (int32_t t = 100; t < 200; ++t) reader->append({&t, 1});
  reader->append(Tokens{1, 2, 3});
  EXPECT_EQ(guesses(*reader).count, 0);
}

TEST(Lookup, RemembersEarlierAnswersWhereThatIsAskedFor) {
  const Tokens answer{1, 2, 3, 4, 5}, begun{1, 2, 3};
  LookupSource without, with({.remembered = 64});
  for (LookupSource* source : {&without, &with}) read(*source, {40, 41, 42, 43})->append(answer);
  EXPECT_EQ(guesses(*read(without, begun)).count, 0);
  EXPECT_EQ(tokens(guesses(*read(with, begun))), Tokens{4});
  EXPECT_EQ(tokens(guesses(*read(with, begun), {4})), Tokens{5});
  EXPECT_EQ(guesses(*read(with, begun), {4, 5}).count, 0);       // nothing follows the end of an answer
  EXPECT_EQ(guesses(*read(with, {40, 41, 42})).count, 0);        // prompts are not kept
  for (int i = 0; i < 20; ++i) read(with, {})->append(Tokens{60, 61, 62, 63});
  EXPECT_EQ(guesses(*read(with, begun)).count, 0);               // the ring went round
}

}  // namespace
}  // namespace outrider
