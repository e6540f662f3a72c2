// How often a drafting model is right at temperature, on text that the target wrote: with shared noise as often as the formula of
// support/agreement.h says, and nearly as often as any coupling could be.
#include "support/agreement.h"

#include <cmath>
#include <cstdio>

#include "measure/scoring.h"
#include "models/runs.h"

namespace outrider::test {
namespace {

constexpr int kTokens = 200, kSeeds = 20;
constexpr const char* kPrompt = "Explain how bread is made, from the field to the table, and what can go wrong on the way.";

using Probabilities = std::vector<TokenProbability>;
using Models = std::pair<const Model&, const Model&>;

// The two tokens with the most log q + noise, best first.
std::array<int32_t, 2> race(const Probabilities& q, const PositionNoise& noise) {
  std::array<int32_t, 2> best{-1, -1};
  std::array<double, 2> score{-1e300, -1e300};
  for (const TokenProbability& t : q) {
    const double s = std::log(double(t.probability)) + noise.gumbel(t.token);
    if (s > score[0]) best = {t.token, best[0]}, score = {s, score[0]};
    else if (s > score[1]) best[1] = t.token, score[1] = s;
  }
  return best;
}

int32_t likeliest_but(const Probabilities& q, int32_t token) {
  const TokenProbability* best = nullptr;
  for (const TokenProbability& t : q)
    if (t.token != token && (!best || t.probability > best->probability)) best = &t;
  return best ? best->token : -1;
}

// What each of the last kTokens rows comes to, and that races are the sampler's own choices.
std::vector<Probabilities> distributions(const Model& model, const std::vector<TokenId>& text, const SamplingSettings& settings) {
  std::vector<Probabilities> rows;
  Sampler sampler(settings, int32_t(model.config().vocabulary), model.padding_ids(), best_kernels());
  Probabilities space(size_t(model.config().vocabulary));
  const auto read = for_each_logits({model, best_kernels(), pool()}, text, [&](int64_t i, std::span<const float> logits) -> Result<void> {
    if (i + 1 < int64_t(text.size()) - kTokens) return {};
    const Distribution d = sampler.distribution(logits, {}, {}, space);
    rows.emplace_back(d.begin(), d.end());
    EXPECT_EQ(race(rows.back(), {settings.seed, settings.stream, i + 1})[0], sampler.choose(logits, i + 1, {}, {}));
    return {};
  });
  EXPECT_TRUE(read.ok());
  return rows;
}

struct Figures {
  double expected = 0, measured = 0, sigma = 0, maximal = 0;  // agreement; of the best coupling
  double with_next_of_race = 0, with_next_of_q = 0;           // the target's choice is among two branches
};

Figures compare(const std::vector<Probabilities>& p, const std::vector<Probabilities>& q) {
  Figures f;
  double variance = 0;
  const double n = double(p.size());
  for (size_t i = 0; i < p.size(); ++i) {
    const Agreement a = agreement(p[i], q[i]);
    f.expected += a.shared / n, f.maximal += a.maximal / n, variance += std::max(0.0, a.shared * (1 - a.shared));
    EXPECT_GE(a.shared, a.least() - 1e-5);
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const PositionNoise noise(seed, 0, int64_t(i));
      const int32_t choice = race(p[i], noise)[0];
      const auto drafted = race(q[i], noise);
      f.measured += (choice == drafted[0]) / (n * kSeeds);
      f.with_next_of_race += (choice == drafted[0] || choice == drafted[1]) / (n * kSeeds);
      f.with_next_of_q += (choice == drafted[0] || choice == likeliest_but(q[i], drafted[0])) / (n * kSeeds);
    }
  }
  f.sigma = std::sqrt(variance / kSeeds) / n;
  return f;
}

Figures figures(const char* name, Models models, float temperature) {
  const auto& [target, drafter] = models;
  const Bench bench(target);
  Request request = bench.request(kPrompt, kTokens, temperature);
  request.ignore_end = true;
  std::vector<TokenId> text = request.prompt;
  const auto answer = bench.run(nullptr, request).tokens;
  text.insert(text.end(), answer.begin(), answer.end());
  const Figures f = compare(distributions(target, text, request.sampling), distributions(drafter, text, request.sampling));
  std::printf("%s at temperature %.1f: %.3f agree (formula %.3f ± %.3f), the best coupling %.3f, ratio %.3f; with the runner-up of the race %.3f, of q %.3f\n", name,
              double(temperature), f.measured, f.expected, f.sigma, f.maximal, f.expected / f.maximal, f.with_next_of_race, f.with_next_of_q);
  EXPECT_NEAR(f.measured, f.expected, 3 * f.sigma);
  EXPECT_GT(f.with_next_of_race, f.with_next_of_q);
  return f;
}

// The further apart the models are, the more sharing the noise costs: never more than a factor 1 ÷ (1 + TV).
void expect_near_the_best(const char* name, Models models, double cool_ratio, double hot_ratio) {
  const Figures cool = figures(name, models, 0.6f), hot = figures(name, models, 1.2f);
  EXPECT_GE(cool.expected / cool.maximal, cool_ratio);
  EXPECT_GE(hot.expected / hot.maximal, hot_ratio);
}

TEST(SharedNoise, AgreesWithANarrowedCopy) {
  const auto target = load(model_path(kSmol));
  auto narrowed = load_model(model_path(kSmol), pool(), {}, {.narrow = QuantType::q4_0});
  ASSERT_TRUE(target && narrowed.ok());
  expect_near_the_best("SmolLM2 and itself in four bits", {*target, **narrowed}, 0.95, 0.92);
}

TEST(SharedNoise, AgreesWithASmallerModel) {
  const auto target = load(model_path(kQwen15)), drafter = load(model_path(kQwen05));
  ASSERT_TRUE(target && drafter);
  expect_near_the_best("Qwen 1.5B and 0.5B", {*target, *drafter}, 0.95, 0.88);
}

}  // namespace
}  // namespace outrider::test
