#pragma once
// The row kernels that sampling needs: scalar's, but with sums and maxima from the definition.
#include <cmath>
#include <limits>

#include "kernels/kernels.h"

namespace outrider {

inline float plain_row_max(const float* x, int64_t n) {
  float max = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < n; i++) max = x[i] > max ? x[i] : max;
  return max;
}

inline float plain_sum_exp(const float* x, int64_t n, float max) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    if (!std::isnan(x[i])) sum += std::exp(double(x[i]) - double(max));
  }
  return float(sum);
}

inline int64_t plain_argmax(const float* x, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; i++) {
    if (x[i] > x[best]) best = i;
  }
  return best;
}

inline const kernels::Kernels& plain_kernels() {
  static const kernels::Kernels table = [] {
    kernels::Kernels k = kernels::kScalarKernels;
    k.row_max = plain_row_max;
    k.sum_exp = plain_sum_exp;
    k.argmax = plain_argmax;
    return k;
  }();
  return table;
}

}  // namespace outrider
