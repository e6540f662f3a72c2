#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/noise.h"
#include "sample/scalar_kernels.h"

namespace outrider {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

SamplingSettings plain(float temperature) {
  SamplingSettings s;
  s.temperature = temperature;
  s.top_p = 1;
  return s;
}

struct Row {
  std::vector<float> logits;
  std::vector<int32_t> forbidden;
  int choose(const SamplingSettings& s, int64_t position = 0, std::vector<int32_t> history = {},
             std::vector<int32_t> ancestors = {}) const {
    Sampler sampler(s, int32_t(logits.size()), forbidden, plain_kernels());
    return sampler.choose(logits, position, history, ancestors);
  }
};

std::vector<float> random_row(int n, float spread, uint64_t seed) {
  std::vector<float> row;
  for (int i = 0; i < n; i++) row.push_back(float(PositionNoise(seed, 77, 0).gumbel(i)) * spread);
  return row;
}

// The chain written from its definition in long double, sorting everything.
std::vector<double> exact_distribution(std::vector<float> x, const SamplingSettings& s) {
  std::vector<int> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return x[size_t(a)] > x[size_t(b)]; });
  const float max = x[size_t(order[0])];
  size_t kept = order.size();
  if (s.top_k > 0) kept = std::min(kept, size_t(s.top_k));
  const auto mass = [&](size_t i) { return std::exp((long double)(x[size_t(order[i])] - max)); };
  if (s.top_p < 1) {
    long double total = 0, sum = 0;
    for (size_t i = 0; i < kept; i++) total += mass(i);
    size_t head = 0;
    do sum += mass(head++);
    while (head < kept && sum < total * (long double)s.top_p);
    kept = head;
  }
  if (s.min_p > 0) {
    while (kept > 1 && mass(kept - 1) < (long double)s.min_p) kept--;
  }
  std::vector<double> p(x.size(), 0);
  double total = 0;
  for (size_t i = 0; i < kept; i++) total += std::exp(double(x[size_t(order[i])] - max) / double(s.temperature));
  for (size_t i = 0; i < kept; i++) p[size_t(order[i])] = std::exp(double(x[size_t(order[i])] - max) / double(s.temperature)) / total;
  return p;
}

void expect_distribution(const std::vector<float>& logits, SamplingSettings s) {
  constexpr int kDraws = 40000;
  const std::vector<double> want = exact_distribution(logits, s);
  std::vector<int> count(logits.size(), 0);
  Sampler sampler(s, int32_t(logits.size()), {}, plain_kernels());
  for (int i = 0; i < kDraws; i++) count[size_t(sampler.choose(logits, i, {}, {}))]++;
  double chi = 0, pooled = 0;
  int cells = 0, pooled_count = 0;
  for (size_t i = 0; i < logits.size(); i++) {
    ASSERT_TRUE(want[i] > 0 || count[i] == 0) << "token " << i << " is outside the allowed set";
    if (want[i] * kDraws < 8) {
      pooled += want[i] * kDraws;
      pooled_count += count[i];
      continue;
    }
    cells++;
    chi += (count[i] - want[i] * kDraws) * (count[i] - want[i] * kDraws) / (want[i] * kDraws);
  }
  if (pooled > 8) chi += (pooled_count - pooled) * (pooled_count - pooled) / pooled, cells++;
  EXPECT_LT(chi, cells + 4.5 * std::sqrt(2.0 * cells) + 14);
}

TEST(Sampler, DrawsTheExactDistribution) {
  const std::vector<float> small = {2.0f, 1.0f, 0.5f, -1.0f, 0.5f}, wide = random_row(300, 2, 1);
  for (float t : {0.3f, 0.7f, 1.0f, 1.5f, 5.0f}) {
    expect_distribution(small, plain(t));
    expect_distribution(wide, plain(t));
    SamplingSettings s = plain(t);
    s.top_k = 3;
    expect_distribution(small, s);
    s.top_k = 40;
    s.top_p = 0.8f;
    expect_distribution(wide, s);
    s.top_k = 0;
    expect_distribution(wide, s);
    s.min_p = 0.05f;
    expect_distribution(wide, s);
    s.top_p = 1;
    expect_distribution(wide, s);
  }
}

// The allowed set equals the definition's on many rows, flat and peaked, with ties, large enough for several slices and halvings.
TEST(Sampler, TruncationKeepsTheDefinedSet) {
  for (int trial = 0; trial < 300; trial++) {
    const PositionNoise noise(5, 1, trial);
    std::vector<float> row = random_row(3000, float(0.05 + 3 * noise.uniform(1)), uint64_t(trial));
    if (trial % 3 == 0) {
      for (float& x : row) x = std::round(x);  // many ties
    }
    if (trial % 5 == 0) row.assign(row.size(), 1.25f);
    SamplingSettings s = plain(1);
    if (trial % 2) s.top_k = 1 + int(noise.uniform(2) * 200);
    if (trial % 4 > 1 || trial % 2 == 0) s.top_p = float(noise.uniform(3));
    if (trial % 7 == 0) s.min_p = float(noise.uniform(4));
    Truncation truncation(s, int32_t(row.size()));
    std::set<int32_t> got;
    std::vector<float> maxima(row.size() / kernels::kMaxBlock + 1);
    const ScannedRow scanned{row, maxima.data(), plain_kernels().block_max(row.data(), int64_t(row.size()), maxima.data())};
    for (const Candidate& c : truncation.keep(scanned, plain_kernels())) got.insert(c.token);
    std::set<int32_t> want;
    const std::vector<double> p = exact_distribution(row, s);
    for (size_t i = 0; i < p.size(); i++) {
      if (p[i] > 0) want.insert(int32_t(i));
    }
    // A cut within 1e-6 of the boundary may fall one token to either side: sums of 3000 floats are not the exact sum.
    std::vector<int32_t> difference;
    std::set_symmetric_difference(got.begin(), got.end(), want.begin(), want.end(), std::back_inserter(difference));
    ASSERT_LE(difference.size(), 1u) << "trial " << trial << " kept " << got.size() << " of " << want.size();
  }
}

// Skipping tokens that cannot win never changes the winner.
TEST(Sampler, RaceEqualsTheFullArgmax) {
  for (int trial = 0; trial < 200; trial++) {
    const std::vector<float> row = random_row(2000, float(trial % 10 + 1), uint64_t(trial));
    const float max = plain_row_max(row.data(), int64_t(row.size()));
    SamplingSettings s = plain(0.1f + 0.05f * float(trial % 30));
    s.seed = uint64_t(trial) * 31;
    const PositionNoise noise(s.seed, 0, trial);
    double best = -1e300;
    int want = -1;
    for (int i = 0; i < 2000; i++) {
      const double score = (double(row[size_t(i)]) - double(max)) * (1 / double(s.temperature)) + noise.gumbel(i);
      if (score > best) best = score, want = i;
    }
    ASSERT_EQ((Row{row, {}}.choose(s, trial)), want);
  }
}

TEST(Sampler, GreedyTakesTheLowestIdAmongEquals) {
  EXPECT_EQ((Row{{1, 3, 2, 3}, {}}.choose(plain(0))), 1);
  EXPECT_EQ((Row{{0, 0, 0}, {}}.choose(plain(0))), 0);
  SamplingSettings s = plain(0);
  s.top_k = 1;  // without effect
  s.min_p = 0.9f;
  EXPECT_EQ((Row{{1, 3, 2, 3}, {}}.choose(s)), 1);
}

TEST(Sampler, TopOneIsGreedyAtAnyTemperature) {
  SamplingSettings s = plain(2);
  s.top_k = 1;
  SamplingSettings p = plain(2);
  p.top_p = 0;
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ((Row{{1, 3, 2, 3}, {}}.choose(s, i)), 1);
    EXPECT_EQ((Row{{1, 3, 2, 3}, {}}.choose(p, i)), 1);
  }
}

TEST(Sampler, HighTemperatureShowsManyTokensAndSeedsDiffer) {
  const Row row{random_row(500, 1.5f, 4), {}};
  std::set<int> seen;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    SamplingSettings s = plain(1.5f);
    s.seed = seed;
    seen.insert(row.choose(s, 2));
  }
  EXPECT_GE(seen.size(), 8u);
  SamplingSettings a = plain(1.5f), b = a;
  b.stream = 1;
  int different = 0;
  for (int i = 0; i < 100; i++) different += row.choose(a, i) != row.choose(b, i);
  EXPECT_GT(different, 50);
}

TEST(Sampler, BansAndPadding) {
  for (float t : {0.0f, 1.0f}) {
    for (float p : {0.9f, 1.0f}) {
      SamplingSettings s = plain(t);
      s.top_p = p;
      s.logit_bias = {{1, -100}, {3, -kInf}};
      const Row row{{1, 30, 2, 25, 1.5f, 99, 98}, {5, 6}};
      for (int i = 0; i < 200; i++) {
        const int token = row.choose(s, i);
        ASSERT_TRUE(token == 0 || token == 2 || token == 4);
      }
    }
  }
  SamplingSettings s = plain(0);
  EXPECT_EQ((Row{{9, 1, 9, 2}, {0, 2}}.choose(s)), 3) << "padding in the middle too";
  s.logit_bias = {{1, 5}, {1, 5}};
  EXPECT_EQ((Row{{9, 1, 3, 2}, {}}.choose(s)), 1) << "biases of one token add up";
}

TEST(Sampler, PenaltiesFollowTheirFormulas) {
  SamplingSettings s = plain(0);
  s.repeat_penalty = 2;
  EXPECT_EQ((Row{{3, 2, -1}, {}}.choose(s, 0, {0})), 1) << "positive logits are divided";
  EXPECT_EQ((Row{{-1, -1.5f}, {}}.choose(s, 0, {0})), 1) << "negative ones multiplied";
  s = plain(0);
  s.presence_penalty = 0.6f;
  EXPECT_EQ((Row{{3, 2.5f}, {}}.choose(s, 0, {0})), 1);
  EXPECT_EQ((Row{{3, 2.3f}, {}}.choose(s, 0, {0, 0, 0})), 0) << "presence does not count occurrences";
  s = plain(0);
  s.frequency_penalty = 0.3f;
  EXPECT_EQ((Row{{3, 2.5f}, {}}.choose(s, 0, {0})), 0);
  EXPECT_EQ((Row{{3, 2.5f}, {}}.choose(s, 0, {0, 0})), 1);
  s.frequency_penalty = -2;
  EXPECT_EQ((Row{{3, 2.5f}, {}}.choose(s, 0, {1})), 1) << "negative penalties attract";
}

TEST(Sampler, PenaltiesLookBackOverHistoryAndAncestors) {
  SamplingSettings s = plain(0);
  s.presence_penalty = 2;
  const Row row{{3, 2, 1.5f}, {}};
  s.repeat_last_n = 2;
  EXPECT_EQ(row.choose(s, 0, {0, 1, 2}), 0) << "the first 0 is out of the window";
  EXPECT_EQ(row.choose(s, 0, {0, 1}), 2);
  EXPECT_EQ(row.choose(s, 0, {0}, {1}), 2) << "ancestors follow the history";
  EXPECT_EQ(row.choose(s, 0, {0}, {1, 2}), 0) << "and push it out of the window";
  EXPECT_EQ(row.choose(s, 0, {}, {2, 0, 1}), 2) << "only the last ancestors count";
  s.repeat_last_n = -1;
  EXPECT_EQ(row.choose(s, 0, {0, 2, 2, 2, 2}, {2}), 1);
  s.repeat_last_n = 0;
  EXPECT_EQ(row.choose(s, 0, {0, 0}, {0}), 0);
  s.repeat_last_n = 64;
  EXPECT_EQ(row.choose(s, 0, {-5, 1000000, 0}), 1) << "ids that are no tokens are passed over";
}

// The place decides, never the road to it: any split of a text into history and ancestors, any call order, any earlier calls.
TEST(Sampler, ChoiceDependsOnNothingButItsArguments) {
  SamplingSettings s;
  s.repeat_penalty = 1.2f;
  s.frequency_penalty = 0.4f;
  s.repeat_last_n = 7;
  s.seed = 9;
  const int n = 400;
  std::vector<int32_t> text;
  for (int i = 0; i < 30; i++) text.push_back(int32_t(PositionNoise(8, 8, i).uniform(0) * n));
  Sampler sampler(s, n, {}, plain_kernels());
  std::map<int, int> forward;
  for (int at = 0; at < 30; at++) {
    const std::vector<float> row = random_row(n, 2, uint64_t(at));
    forward[at] = sampler.choose(row, at, std::span(text).first(size_t(at)), {});
  }
  for (int at = 29; at >= 0; at--) {
    const std::vector<float> row = random_row(n, 2, uint64_t(at));
    for (int split = 0; split <= at; split++) {
      const auto history = std::span<const int32_t>(text).first(size_t(split)),
                 ancestors = std::span<const int32_t>(text).subspan(size_t(split), size_t(at - split));
      ASSERT_EQ(sampler.choose(row, at, history, ancestors), forward[at]);
    }
    ASSERT_EQ((Row{row, {}}.choose(s, at, {text.begin(), text.begin() + at})), forward[at]);
  }
}

TEST(Sampler, EveryInstructionSetChoosesTheSame) {
  using kernels::Isa;
  for (int trial = 0; trial < 60; trial++) {
    SamplingSettings s = plain(trial % 5 == 0 ? 0 : 0.8f);
    if (trial % 2) s.top_p = 0.9f;
    if (trial % 3 == 0) s.top_k = 30;
    const std::vector<float> row = random_row(1000 + trial, 2, uint64_t(trial));
    std::set<int> chosen;
    for (Isa isa : kernels::kAllIsas) {
      if (!kernels::isa_supported(isa)) continue;
      Sampler sampler(s, int32_t(row.size()), {}, kernels::kernels_for(isa));
      chosen.insert(sampler.choose(row, trial, {}, {}));
    }
    ASSERT_EQ(chosen.size(), 1u);
  }
}

TEST(Sampler, BrokenRowsDoNotCrash) {
  const std::vector<std::vector<float>> rows = {{kNan, kNan, kNan, kNan}, {kNan, 1, 2, kNan},     {-kInf, -kInf, -kInf, -kInf},
                                                {kInf, 1, 2, kInf},       {3, kNan, kInf, -kInf}, {1e38f, -1e38f, 3e38f, 0}};
  for (const auto& logits : rows) {
    for (int mode = 0; mode < 24; mode++) {
      SamplingSettings s = plain(mode % 3 == 0 ? 0 : mode % 3 == 1 ? 0.01f : 1);
      if (mode / 3 % 2) s.top_p = 0.5f;
      if (mode / 6 % 2) s.top_k = 2;
      if (mode / 12) s.min_p = 0.1f, s.logit_bias = {{0, -100}};
      const int token = Row{logits, {3}}.choose(s, mode, {1, 2});
      ASSERT_TRUE(token >= 0 && token < 3);
      ASSERT_TRUE(mode / 12 == 0 || token != 0) << "banned";
      ASSERT_TRUE(!std::isnan(logits[0]) || std::isnan(logits[1]) || token != 0) << "NaN never wins over a number";
    }
  }
  EXPECT_EQ((Row{{kNan, 1, 2, kNan}, {}}.choose(plain(0))), 2);
}

TEST(Sampler, LogProbabilityIsTheSoftmaxOfTheRow) {
  const std::vector<float> row = {0.5f, 2, -1};
  const double total = std::exp(0.5) + std::exp(2) + std::exp(-1);
  EXPECT_NEAR(log_probability(plain_kernels(), row, 1), 2 - std::log(total), 1e-6);
  EXPECT_NEAR(top_probability(plain_kernels(), row, 0), std::exp(0.5) / total, 1e-6);
  EXPECT_LE(log_probability(plain_kernels(), std::vector<float>{5}, 0), 0);
}

TEST(Settings, AreValidated) {
  EXPECT_TRUE(validate(SamplingSettings{}, 10).ok());
  const auto refused = [](auto change, const char* word) {
    SamplingSettings s;
    change(s);
    const Result<void> result = validate(s, 10);
    ASSERT_FALSE(result.ok()) << word;
    EXPECT_NE(result.error().message.find(word), std::string::npos) << result.error().message;
  };
  refused([](auto& s) { s.temperature = -0.1f; }, "temperature");
  refused([](auto& s) { s.temperature = kNan; }, "temperature");
  refused([](auto& s) { s.top_p = 1.1f; }, "top-p");
  refused([](auto& s) { s.min_p = -1; }, "min-p");
  refused([](auto& s) { s.top_k = -1; }, "top-k");
  refused([](auto& s) { s.repeat_penalty = 0; }, "repeat-penalty");
  refused([](auto& s) { s.repeat_last_n = -2; }, "repeat-last-n");
  refused([](auto& s) { s.presence_penalty = 3; }, "presence-penalty");
  refused([](auto& s) { s.frequency_penalty = -3; }, "frequency-penalty");
  refused([](auto& s) { s.logit_bias = {{10, 1}}; }, "logit-bias token");
  refused([](auto& s) { s.logit_bias = {{1, kNan}}; }, "logit-bias");
}

}  // namespace
}  // namespace outrider
