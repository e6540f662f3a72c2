// Not a benchmark: a bound loose enough for a busy machine that still catches a vocabulary being sorted. The figures are printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "base/noise.h"
#include "sample/sampler.h"

namespace outrider {
namespace {

constexpr int kVocabulary = 151936;

// Like a language model's: a bell of width 2.5 and a few tokens that stand out of it by `lead`.
std::vector<float> model_like_row(float lead) {
  std::vector<float> row;
  for (int i = 0; i < kVocabulary; i++) {
    const PositionNoise noise(1, 1, i);
    double bell = -6;
    for (int k = 0; k < 12; k++) bell += noise.uniform(k);
    row.push_back(float(2.5 * bell));
  }
  for (int i = 0; i < 30; i++) row[size_t(i) * 5003] += lead - 0.4f * float(i);
  return row;
}

double best_ms(const std::function<void(int)>& work) {
  double best = 1e9;
  for (int i = 0; i < 20; i++) {
    const auto start = std::chrono::steady_clock::now();
    work(i);
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

const kernels::Kernels& fastest() { return kernels::kernels_for(kernels::best_isa()); }

double choose_ms(const char* name, const std::vector<float>& row, const std::function<void(SamplingSettings&)>& change) {
  SamplingSettings s;
  change(s);
  Sampler sampler(s, kVocabulary, {}, fastest());
  const std::vector<int32_t> history(200, 17);
  int64_t sum = 0;
  const double ms = best_ms([&](int i) { sum += sampler.choose(row, i, history, {}); });
  std::printf("  %-30s %.3f ms\n", name, ms);
  EXPECT_GE(sum, 0);
  return ms;
}

TEST(SamplerSpeed, IsFarFromSortingTheVocabulary) {
  const std::vector<float> sure = model_like_row(18), flat = model_like_row(0);
  (void)choose_ms("greedy", sure, [](auto& s) { s.temperature = 0; });
  EXPECT_LT(choose_ms("default", sure, [](auto&) {}), 10);
  (void)choose_ms("default with penalties", sure, [](auto& s) { s.repeat_penalty = 1.1f; });
  (void)choose_ms("default, flat row", flat, [](auto&) {});
  (void)choose_ms("top-k 40", sure, [](auto& s) { s.top_k = 40; });
  (void)choose_ms("min-p 0.05", sure, [](auto& s) { s.top_p = 1, s.min_p = 0.05f; });
  EXPECT_LT(choose_ms("all compete", sure, [](auto& s) { s.top_p = 1; }), 30);
  (void)choose_ms("all compete, flat row", flat, [](auto& s) { s.top_p = 1; });
}

}  // namespace
}  // namespace outrider
