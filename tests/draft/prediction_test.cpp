#include "draft/prediction.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace outrider {
namespace {

using Tokens = std::vector<int32_t>;

std::unique_ptr<Reader> read(const Tokens& prediction) {
  SourceRequest request;
  request.prediction = prediction;
  PredictionSource source;
  auto reader = source.open(request);
  EXPECT_TRUE(reader.ok());
  return std::move(*reader);
}

Tokens tokens(const Reader& reader, const Tokens& drafted = {}) {
  Guesses out;
  reader.guess(drafted, out);
  Tokens list;
  for (const Guess& g : out.all()) {
    EXPECT_TRUE(g.evidence >= 0 && g.evidence < kEvidence && g.prior > 0 && g.prior < 1);
    list.push_back(g.token);
  }
  return list;
}

// A text of `count` tokens, a few of them far more frequent than the others, as line ends and brackets are.
Tokens file(int count, unsigned seed) {
  std::mt19937 random(seed);
  Tokens text;
  for (int i = 0; i < count; ++i) text.push_back(random() % 3 ? int32_t(random() % 200) : int32_t(random() % 4));
  return text;
}

// Tokens of the answer that the first guess missed.
int missed(const Tokens& prediction, const Tokens& answer) {
  const auto reader = read(prediction);
  int count = 0;
  for (const int32_t token : answer) {
    const Tokens guess = tokens(*reader);
    count += guess.empty() || guess[0] != token;
    reader->append({&token, 1});
  }
  return count;
}

TEST(Prediction, NothingWithoutOne) {
  PredictionSource source;
  EXPECT_FALSE(source.open({}).ok());
}

TEST(Prediction, TheSameTextIsForetoldToTheEnd) {
  const Tokens text = file(500, 1);
  EXPECT_EQ(missed(text, text), 0);
  const auto reader = read(text);
  reader->append(text);
  EXPECT_TRUE(tokens(*reader).empty());
}

TEST(Prediction, OnlyTheChangeIsMissed) {
  const Tokens text = file(400, 2);
  const Tokens fresh{900, 901, 902, 903, 904, 905};
  for (const int at : {0, 1, 50, 200, 390}) {
    for (const int out : {0, 1, 2, 6})
      for (const int in : {0, 1, 2, 6}) {
        Tokens answer = text;
        answer.erase(answer.begin() + at, answer.begin() + at + out);
        answer.insert(answer.begin() + at, fresh.begin(), fresh.begin() + in);
        EXPECT_LE(missed(text, answer), in + 4) << "at " << at << ", " << out << " out, " << in << " in";
      }
  }
}

TEST(Prediction, AfterALongPreambleAndAMovedPart) {
  const Tokens text = file(600, 3);
  Tokens answer(150);
  std::iota(answer.begin(), answer.end(), 1000);
  answer.insert(answer.end(), text.begin() + 400, text.end());
  answer.insert(answer.end(), text.begin(), text.begin() + 400);
  EXPECT_LE(missed(text, answer), 150 + 20);
}

TEST(Prediction, OffersTheWaysOnAfterADisagreement) {
  const auto reader = read({1, 2, 3, 4, 5, 6, 7, 8});
  reader->append(Tokens{1, 2, 3, 90});
  EXPECT_EQ(tokens(*reader), (Tokens{5, 4}));  // 90 in the place of 4, or before it
  reader->append(Tokens{4});                   // before it
  EXPECT_EQ(tokens(*reader), Tokens{5});
  reader->append(Tokens{7});  // 5 and 6 were left out
  EXPECT_EQ(tokens(*reader)[0], 8);
}

TEST(Prediction, ADraftedPathCountsAsText) {
  const Tokens text = file(100, 5);
  const auto drafting = read(text);
  drafting->append({text.data(), 20});
  for (int length = 0; length < 31; ++length) {
    for (const bool wrong : {false, true}) {
      Tokens path(text.begin() + 20, text.begin() + 20 + length);
      if (wrong && length > 0) path.back() = 900;
      const auto emitted = read(text);
      emitted->append({text.data(), 20});
      emitted->append(path);
      EXPECT_EQ(tokens(*drafting, path), tokens(*emitted));
    }
  }
}

}  // namespace
}  // namespace outrider
