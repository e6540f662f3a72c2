#include "sample/top.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.h"
#include "sample/truncate.h"

namespace outrider {

namespace {
constexpr float kInfinity = std::numeric_limits<float>::infinity();
}  // namespace

TopFinder::TopFinder(int64_t row_size) : maxima_(blocks_in(row_size)), ordered_(blocks_in(row_size)), found_(size_t(row_size)) {}

size_t TopFinder::bytes(int64_t row_size) { return 2 * blocks_in(row_size) * sizeof(float) + size_t(row_size) * sizeof(int32_t); }

// The eighth largest of the blocks' maxima bounds the eighth largest entry from below: few entries reach it.
void TopFinder::find(const kernels::Kernels& kernels, std::span<const float> logits, TopTokens& out) {
  out = {};
  const int64_t n = int64_t(logits.size());
  const float max = kernels.block_max(logits.data(), n, maxima_.data());
  if (!std::isfinite(max)) return;
  const size_t rank = std::min<size_t>(TopTokens::kCount, maxima_.size()) - 1;
  std::copy(maxima_.begin(), maxima_.end(), ordered_.begin());
  std::nth_element(ordered_.begin(), ordered_.begin() + ptrdiff_t(rank), ordered_.end(), std::greater<>());
  const float least = std::max(ordered_[rank], max - 20);  // beyond e^-20 of the best nobody cares
  const int64_t count = kernels.gather(logits.data(), n, maxima_.data(), std::nextafter(least, -kInfinity), max, found_.data());
  const auto first = [&](int32_t a, int32_t b) { return logits[size_t(a)] != logits[size_t(b)] ? logits[size_t(a)] > logits[size_t(b)] : a < b; };
  const int64_t wanted = std::min<int64_t>(count, TopTokens::kCount);
  std::partial_sort(found_.begin(), found_.begin() + wanted, found_.begin() + count, first);
  const double sum = double(kernels.sum_exp(logits.data(), n, max));
  for (size_t i = 0; i < size_t(wanted); ++i) {
    out.token[i] = found_[i];
    out.probability[i] = float(math::exp(double(logits[size_t(found_[i])]) - double(max)) / sum);
  }
}

}  // namespace outrider
