// Two samplers that share the noise agree as often as the formula says; and a distribution is what choices are drawn from.
#include "support/agreement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/noise.h"
#include "sample/sampler.h"
#include "sample/scalar_kernels.h"

namespace outrider {
namespace {

std::vector<float> random_row(int n, double spread, uint64_t seed) {
  std::vector<float> row;
  for (int i = 0; i < n; i++) row.push_back(float(PositionNoise(seed, 78, 0).gumbel(i) * spread));
  return row;
}

struct Model {
  std::vector<float> logits;
  Sampler sampler;
  std::vector<TokenProbability> space;
  Model(std::vector<float> row, const SamplingSettings& s) : logits(std::move(row)), sampler(s, int32_t(logits.size()), {}, plain_kernels()), space(logits.size()) {}
  Distribution distribution(std::vector<int32_t> history = {}) { return sampler.distribution(logits, history, {}, space); }
  int choose(int64_t position) { return sampler.choose(logits, position, {}, {}); }
};

SamplingSettings settings(float temperature, int32_t top_k, float top_p, float min_p) {
  SamplingSettings s;
  s.temperature = temperature, s.top_k = top_k, s.top_p = top_p, s.min_p = min_p;
  return s;
}

const std::vector<SamplingSettings> kChains = {settings(1, 0, 1, 0), settings(0.6f, 0, 0.95f, 0), settings(1.2f, 0, 0.8f, 0), settings(0.9f, 3, 1, 0), settings(1.5f, 5, 0.9f, 0.1f)};

TEST(Agreement, IsWhatTheFormulaSays) {
  constexpr int kPositions = 40000;
  double sum = 0, variance = 0;
  for (size_t chain = 0; chain < kChains.size(); chain++) {
    for (const double apart : {0.3, 1.0, 3.0}) {
      const int n = 3 + 4 * int(chain);
      std::vector<float> row = random_row(n, 1.5, chain), other = random_row(n, apart, 100 + chain);
      for (int i = 0; i < n; i++) other[size_t(i)] += row[size_t(i)];
      Model target(row, kChains[chain]), drafter(other, kChains[chain]);
      const test::Agreement expected = test::agreement(target.distribution(), drafter.distribution());
      int same = 0;
      for (int64_t position = 0; position < kPositions; position++) same += target.choose(position) == drafter.choose(position);
      const double error = double(same) / kPositions - expected.shared, sigma = std::sqrt(expected.shared * (1 - expected.shared) / kPositions);
      EXPECT_LE(std::fabs(error), 3 * sigma + 1e-9) << "chain " << chain << " apart " << apart << ": " << double(same) / kPositions << ", expected " << expected.shared;
      EXPECT_GE(expected.shared, expected.least() - 1e-6);
      EXPECT_LE(expected.shared, expected.maximal + 1e-6);
      sum += error, variance += sigma * sigma;
    }
  }
  EXPECT_LE(std::fabs(sum), 3 * std::sqrt(variance));
}

TEST(Agreement, OfEqualAndOfDisjointModels) {
  Model a({1, 2, 3, -9}, settings(1, 2, 1, 0)), b({9, 0, -1, 8}, settings(1, 2, 1, 0));
  EXPECT_NEAR(test::agreement(a.distribution(), a.distribution()).shared, 1, 1e-6);
  EXPECT_EQ(test::agreement(a.distribution(), b.distribution()).shared, 0);
}

TEST(Distribution, IsWhatIsChosenFrom) {
  constexpr int kPositions = 40000;
  for (const SamplingSettings& s : kChains) {
    Model model(random_row(12, 1.5, 5), s);
    const Distribution d = model.distribution();
    std::vector<int> count(12);
    for (int64_t position = 0; position < kPositions; position++) count[size_t(model.choose(position))]++;
    double sum = 0;
    int listed = 0;
    for (const TokenProbability& t : d) {
      const double p = double(t.probability), expected = p * kPositions;
      EXPECT_NEAR(count[size_t(t.token)], expected, 4 * std::sqrt(expected * (1 - p)) + 1) << t.token;
      sum += p, listed += count[size_t(t.token)];
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    EXPECT_EQ(listed, kPositions) << "a token was chosen that is not listed";
    EXPECT_TRUE(std::ranges::is_sorted(d, {}, &TokenProbability::token));
  }
}

TEST(Distribution, SeesTheWholeChain) {
  SamplingSettings s = settings(1, 0, 1, 0);
  s.logit_bias = {{0, -100}, {1, 2}}, s.repeat_penalty = 2;
  Model model({5, 1, 4, 3}, s);
  const Distribution d = model.distribution({2});  // logits −∞, 3, 4 ÷ 2, 3
  ASSERT_EQ(d.size(), 3u);
  EXPECT_EQ(probability_of(d, 0), 0);
  EXPECT_FLOAT_EQ(probability_of(d, 1), probability_of(d, 3));
  EXPECT_NEAR(probability_of(d, 2) / probability_of(d, 1), std::exp(-1), 1e-6);

  Model greedy({1, 7, 7, 0}, settings(0, 0, 1, 0));
  ASSERT_EQ(greedy.distribution().size(), 1u);
  EXPECT_EQ(greedy.distribution()[0].token, 1);

  const float nan = std::numeric_limits<float>::quiet_NaN();
  Model broken({nan, nan, nan}, settings(1, 0, 1, 0)), half({nan, 1, std::numeric_limits<float>::infinity()}, settings(1, 0, 1, 0));
  ASSERT_EQ(broken.distribution().size(), 1u);
  EXPECT_EQ(broken.distribution()[0].token, broken.choose(0));
  EXPECT_EQ(half.distribution().front().token, half.choose(0));
}

TEST(Distribution, DrawGivesEveryTokenItsShare) {
  const std::vector<TokenProbability> weights = {{2, 0}, {3, 1}, {5, 2}, {9, 1}, {11, 0}};
  EXPECT_EQ(draw(weights, 0.001), 3);
  EXPECT_EQ(draw(weights, 0.249), 3);
  EXPECT_EQ(draw(weights, 0.251), 5);
  EXPECT_EQ(draw(weights, 0.749), 5);
  EXPECT_EQ(draw(weights, 0.751), 9);
  EXPECT_EQ(draw(weights, 0.999999999), 9);
  EXPECT_EQ(draw({}, 0.5), -1);
}

}  // namespace
}  // namespace outrider
