// The token is the one that the whole computation would choose: everything sorted, every token given its noise, nothing skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/exp32.h"
#include "base/math.h"
#include "base/noise.h"
#include "sample/sampler.h"

namespace outrider {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kPosition = 12;

uint64_t mass_of(float logit, float max) { return uint64_t(double(exp32(logit - max)) * 0x1p40); }

// Steps 3 to 5 of sampler.h on a row without NaN, in the order in which they are written there.
int plain_choice(const std::vector<float>& row, const SamplingSettings& s) {
  std::vector<int> kept;
  for (size_t i = 0; i < row.size(); i++)
    if (row[i] > -kInf) kept.push_back(int(i));
  if (kept.empty()) return -1;
  std::stable_sort(kept.begin(), kept.end(), [&](int a, int b) { return row[size_t(a)] > row[size_t(b)]; });
  if (s.greedy()) return kept[0];
  const float max = row[size_t(kept[0])];
  if (s.top_k > 0) kept.resize(std::min(kept.size(), size_t(s.top_k)));
  if (s.top_p < 1) {
    uint64_t needed = 0;
    const bool all = s.top_k == 0 || size_t(s.top_k) >= row.size();
    if (all) needed = uint64_t(double(kernels::kScalarKernels.sum_exp(row.data(), int64_t(row.size()), max)) * 0x1p40 * double(s.top_p));
    else {
      for (const int i : kept) needed += mass_of(row[size_t(i)], max);
      needed = uint64_t(double(needed) * double(s.top_p));
    }
    uint64_t sum = 0;
    size_t head = 0;
    do sum += mass_of(row[size_t(kept[head++])], max);
    while (head < kept.size() && sum < needed);
    kept.resize(head);
  }
  if (s.min_p > 0) std::erase_if(kept, [&](int i) { return double(row[size_t(i)]) - double(max) < math::log(double(s.min_p)); });
  const PositionNoise noise(s.seed, s.stream, kPosition);
  std::sort(kept.begin(), kept.end());
  int winner = -1;
  double best = -double(kInf);
  for (const int i : kept) {
    const double sum = (double(row[size_t(i)]) - double(max)) * (1 / double(s.temperature)) + noise.gumbel(i);
    if (sum > best) best = sum, winner = i;
  }
  return winner;
}

enum class Shape { spread, flat, equal, peaked, tied, holes, masked };

std::vector<float> make_row(Shape shape, int n, uint64_t seed) {
  std::vector<float> row;
  const PositionNoise noise(seed, 5, 0);
  for (int i = 0; i < n; i++) {
    const auto x = float(noise.gumbel(i)) * (shape == Shape::flat ? 0.3f : 2.5f);
    row.push_back(shape == Shape::equal ? -3 : shape == Shape::tied ? std::round(x) : x);
    if (shape == Shape::peaked && i % 997 == 3) row.back() += 20;
    if (shape == Shape::holes && i % 3 == 0) row.back() = kNan;
    if (shape == Shape::masked && i % 64 != 5) row.back() = -kInf;
  }
  return row;
}

// The settings of a trial, so that all pairs of choices meet sooner or later.
SamplingSettings make_settings(uint64_t seed, int n) {
  const PositionNoise noise(seed, 6, 0);
  const auto pick = [&](int32_t id, std::initializer_list<float> values) { return values.begin()[size_t(noise.uniform(id) * double(values.size()))]; };
  SamplingSettings s;
  s.temperature = pick(1, {0, 0.2f, 0.7f, 1, 3, 40});
  s.top_k = int32_t(pick(2, {0, 0, 0, 1, 40, 700, float(n)}));
  s.top_p = pick(3, {1, 0.95f, 0.999f, 0.5f, 0});
  s.min_p = pick(4, {0, 0, 0.05f, 0.9f});
  s.seed = seed;
  if (noise.uniform(5) < 0.3) s.repeat_penalty = 1.3f, s.presence_penalty = 0.5f, s.frequency_penalty = 0.2f;
  if (noise.uniform(6) < 0.3) s.logit_bias = {{int32_t(n / 2), -100}, {int32_t(n / 3), 4}, {1, -kInf}};
  return s;
}

// Steps 1 and 2, and NaN as -inf.
std::vector<float> edit(std::vector<float> row, const SamplingSettings& s, const std::vector<int32_t>& history, int live) {
  row.resize(size_t(live));
  for (float& x : row) x = std::isnan(x) ? -kInf : x;
  for (const LogitBias& b : s.logit_bias)
    if (b.bias > kBanBias) row[size_t(b.token)] += b.bias;
  if (s.has_penalties()) {
    for (size_t t = 0; t < row.size(); t++) {
      const auto count = std::count(history.begin(), history.end(), int32_t(t));
      if (count == 0) continue;
      row[t] = row[t] > 0 ? row[t] / s.repeat_penalty : row[t] * s.repeat_penalty;
      row[t] -= s.presence_penalty;
      row[t] -= s.frequency_penalty * float(count);
    }
  }
  for (const LogitBias& b : s.logit_bias)
    if (b.bias <= kBanBias) row[size_t(b.token)] = -kInf;
  return row;
}

TEST(Exact, TheChosenTokenIsThatOfTheWholeComputation) {
  for (const int n : {70, 1000, 5003}) {
    const int live = n - 3;
    const std::vector<int32_t> padding = {n - 1, n - 2, n - 3};
    for (uint64_t seed = 0; seed < 600; seed++) {
      const auto shape = Shape(seed % 7);
      const std::vector<float> row = make_row(shape, n, seed);
      const SamplingSettings s = make_settings(seed * 31 + uint64_t(n), n);
      const std::vector<int32_t> history = {3, 5, 5, int32_t(n / 4), 5, 0, 69};
      const int expected = plain_choice(edit(row, s, history, live), s);
      for (const kernels::Isa isa : kernels::kAllIsas) {
        if (!kernels::isa_supported(isa)) continue;
        Sampler sampler(s, n, padding, kernels::kernels_for(isa));
        ASSERT_EQ(sampler.choose(row, kPosition, history, {}), expected)
            << kernels::kernels_for(isa).name << " n " << n << " seed " << seed << " T " << s.temperature << " k " << s.top_k << " p " << s.top_p << " min-p " << s.min_p;
      }
    }
  }
}

}  // namespace
}  // namespace outrider
