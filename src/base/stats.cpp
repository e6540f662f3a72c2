#include "base/stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/math.h"
#include "base/noise.h"

namespace outrider {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double quantile_of_sorted(std::span<const double> sorted, double q) {
  if (sorted.empty()) return kNan;
  const double place = std::clamp(q, 0.0, 1.0) * double(sorted.size() - 1);
  const size_t below = size_t(std::floor(place)), above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - double(below));
}

double mean(std::span<const double> values) {
  double sum = 0;
  for (double v : values) sum += v;
  return values.empty() ? kNan : sum / double(values.size());
}

std::vector<double> logs(std::span<const double> values) {
  std::vector<double> result;
  for (double v : values) result.push_back(math::log(v));
  return result;
}

}  // namespace

double quantile(std::span<const double> samples, double q) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_of_sorted(sorted, q);
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

double geometric_mean(std::span<const double> samples) { return math::exp(mean(logs(samples))); }

Interval bootstrap_ratio(std::span<const double> a, std::span<const double> b, double confidence, int rounds, uint64_t seed) {
  OUTRIDER_CHECK(a.size() == b.size());
  if (a.empty()) return {kNan, kNan, kNan};
  std::vector<double> differences = logs(a);
  for (size_t i = 0; i < b.size(); i++) differences[i] -= math::log(b[i]);

  const size_t n = differences.size();
  std::vector<double> means(size_t(std::max(rounds, 1)));
  for (size_t round = 0; round < means.size(); round++) {
    const PositionNoise noise(seed, 0, int64_t(round));
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += differences[std::min(n - 1, size_t(noise.uniform(int32_t(i)) * double(n)))];
    means[round] = sum / double(n);
  }
  std::sort(means.begin(), means.end());
  const double tail = (1 - confidence) / 2;
  return {math::exp(quantile_of_sorted(means, tail)), math::exp(mean(differences)), math::exp(quantile_of_sorted(means, 1 - tail))};
}

}  // namespace outrider
