#pragma once
// Order statistics and the one confidence interval that measurements report. Everything is seeded: the same samples give the same figures.
#include <cstdint>
#include <span>

namespace outrider {

// Linear interpolation between order statistics (type 7 of Hyndman and Fan 1996, the default of R and numpy). NaN when empty; q in [0, 1].
double quantile(std::span<const double> samples, double q);
double median(std::span<const double> samples);

// exp of the mean of logs. NaN when empty; samples must be positive.
double geometric_mean(std::span<const double> samples);

struct Interval { double low, estimate, high; };

// Percentile bootstrap (Efron 1979) of the geometric mean of paired ratios a[i] / b[i]: pairs are drawn with replacement `rounds` times.
// The pairs must have equal lengths and be positive. NaN when empty; one pair gives an interval of that one value.
Interval bootstrap_ratio(std::span<const double> a, std::span<const double> b, double confidence = 0.95, int rounds = 4000, uint64_t seed = 1);

}  // namespace outrider
