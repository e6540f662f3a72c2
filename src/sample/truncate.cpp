#include "sample/truncate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.h"

namespace outrider {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kMassUnits = 0x1p40;
// The row is searched in slices below its maximum until they hold enough; real rows are done after the second or third.
constexpr float kSliceDepths[] = {2, 4, 6, 8, 10, 12, 16, 24, 32, kInfinity};
constexpr int kBlock = 32;  // entries looked at together: most blocks hold nothing above the threshold

uint64_t mass_of(float logit, float max) { return uint64_t(math::exp(double(logit) - double(max)) * kMassUnits); }

uint64_t total_mass(std::span<const Candidate> candidates) {
  uint64_t sum = 0;
  for (const Candidate& c : candidates) sum += c.mass;
  return sum;
}

}  // namespace

Truncation::Truncation(const SamplingSettings& settings, int32_t row_size)
    : top_k_(settings.top_k < row_size ? settings.top_k : 0),
      top_p_(settings.top_p),
      min_p_(settings.min_p),
      log_min_p_(settings.min_p > 0 ? math::log(settings.min_p) : 0) {
  if (active()) candidates_.reserve(size_t(row_size));
}

// Appends the entries with above < logit <= up_to.
void Truncation::gather(std::span<const float> row, float max, float above, float up_to) {
  const size_t n = row.size();
  for (size_t start = 0; start < n; start += kBlock) {
    const size_t end = std::min(start + kBlock, n);
    int hits = 0;
    if (end - start == kBlock) {
      for (int i = 0; i < kBlock; i++) hits += row[start + size_t(i)] > above;  // fixed length: the compiler makes it a few vectors
    } else {
      hits = 1;
    }
    if (hits == 0) continue;
    for (size_t i = start; i < end; i++) {
      if (row[i] > above && row[i] <= up_to) candidates_.push_back({row[i], int32_t(i), mass_of(row[i], max)});
    }
  }
}

// Of candidates_[first, end): how many of the head, in order, reach the needed mass; the head is moved to the front. At least one.
// Halves the range by nth_element, so the cost is linear in its length.
size_t Truncation::head_with_mass(size_t first, uint64_t needed) {
  size_t low = first, high = candidates_.size();
  const auto at = [&](size_t i) { return candidates_.begin() + std::ptrdiff_t(i); };
  while (high - low > 32) {
    const size_t middle = low + (high - low) / 2;
    std::nth_element(at(low), at(middle), at(high), comes_before);
    const uint64_t upper = total_mass({&candidates_[low], middle - low});
    if (upper >= needed) {
      high = middle;
    } else {
      needed -= upper;
      low = middle;
    }
  }
  std::sort(at(low), at(high), comes_before);
  for (size_t i = low; i < high; i++) {
    if (candidates_[i].mass >= needed) return i + 1;
    needed -= candidates_[i].mass;
  }
  return high;
}

std::span<const Candidate> Truncation::keep(std::span<const float> row, float max, const kernels::Kernels& kernels) {
  candidates_.clear();
  if (top_k_ == 0 && top_p_ >= 1) {  // min-p alone is a threshold
    gather(row, max, std::nextafter(float(max + log_min_p_), -kInfinity), kInfinity);
  } else {
    uint64_t needed = 0, mass = 0;  // top-p's, while there is no top-k
    if (top_k_ == 0) {
      const double sum = double(kernels.sum_exp(row.data(), int64_t(row.size()), max)) * kMassUnits * double(top_p_);
      if (!(sum < 0x1p62)) return {};
      needed = uint64_t(sum);
    }
    size_t slice = 0;  // where the last slice begins
    float up_to = kInfinity;
    for (float depth : kSliceDepths) {
      slice = candidates_.size();
      gather(row, max, max - depth, up_to);
      up_to = max - depth;
      if (top_k_ > 0 && candidates_.size() >= size_t(top_k_)) break;
      if (top_k_ > 0) continue;
      const uint64_t added = total_mass(std::span(candidates_).subspan(slice));
      if (mass + added >= needed && !candidates_.empty()) break;
      mass += added;
    }
    if (top_k_ > 0) {
      const size_t k = std::min(size_t(top_k_), candidates_.size());
      std::nth_element(candidates_.begin(), candidates_.begin() + std::ptrdiff_t(k) - 1, candidates_.end(), comes_before);
      candidates_.resize(k);
      slice = 0;
      mass = 0;
      needed = uint64_t(double(total_mass(candidates_)) * double(top_p_));
    }
    if (top_p_ < 1) candidates_.resize(head_with_mass(slice, needed - std::min(needed, mass)));
  }
  if (min_p_ > 0) std::erase_if(candidates_, [&](const Candidate& c) { return double(c.logit) - double(max) < log_min_p_; });
  return candidates_;
}

}  // namespace outrider
