#include "measure/sampling.h"

#include "base/noise.h"
#include "base/stats.h"
#include "sample/sampler.h"

namespace outrider {

namespace {

struct Case {
  const char* name;
  SamplingSettings settings;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const char* name, auto&& change) { change(all.emplace_back(Case{name, {}}).settings); };
  add("greedy", [](auto& s) { s.temperature = 0; });
  add("default", [](auto&) {});
  add("default, top-k 40", [](auto& s) { s.top_k = 40; });
  add("default, min-p 0.05", [](auto& s) { s.min_p = 0.05f; });
  add("default, penalties", [](auto& s) { s.repeat_penalty = 1.1f, s.presence_penalty = 0.2f, s.frequency_penalty = 0.1f; });
  add("min-p 0.05 alone", [](auto& s) { s.top_p = 1, s.min_p = 0.05f; });
  add("temperature alone", [](auto& s) { s.top_p = 1; });
  return all;
}

}  // namespace

LogitRows synthetic_rows(int rows, int32_t vocabulary, float lead) {
  LogitRows all(static_cast<size_t>(rows));
  for (int r = 0; r < rows; ++r) {
    std::vector<float>& row = all[size_t(r)];
    for (int32_t i = 0; i < vocabulary; ++i) {
      const PositionNoise noise(1, uint64_t(r), i);
      double bell = -6;  // twelve uniforms: variance 1
      for (int k = 0; k < 12; ++k) bell += noise.uniform(k);
      row.push_back(float(2.5 * bell));
    }
    for (int i = 0; i < 30; ++i) row[size_t((int64_t(i) * 5003 + r) % vocabulary)] += lead - 0.4f * float(i);
  }
  return all;
}

std::vector<SamplingTime> time_sampling(const kernels::Kernels& kernels, const Clock& clock, const LogitRows& rows, int rounds) {
  const auto vocabulary = int32_t(rows.front().size());
  const std::vector<int32_t> history(200, vocabulary / 3);
  std::vector<SamplingTime> times;
  std::vector<Sampler> samplers;
  for (const Case& c : cases()) {
    times.push_back({c.name, 0, 0, 0});
    samplers.emplace_back(c.settings, vocabulary, std::span<const int32_t>{}, kernels);
  }
  std::vector<std::vector<double>> samples(samplers.size());
  for (int round = 0; round <= rounds; ++round) {  // the first is not counted
    for (size_t s = 0; s < samplers.size(); ++s) {
      const double start_ms = clock.now_ms();
      for (size_t r = 0; r < rows.size(); ++r) (void)samplers[s].choose(rows[r], int64_t(size_t(round) * rows.size() + r), history, {});
      if (round > 0) samples[s].push_back((clock.now_ms() - start_ms) / double(rows.size()));
    }
  }
  for (size_t s = 0; s < times.size(); ++s) times[s].ms = median(samples[s]), times[s].q1_ms = quantile(samples[s], 0.25), times[s].q3_ms = quantile(samples[s], 0.75);
  return times;
}

}  // namespace outrider
