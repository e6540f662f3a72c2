#include "sample/truncate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.h"

namespace outrider {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kMassUnits = 0x1p40;
constexpr int64_t kChunk = 1024;  // entries of a row whose candidates are made together: a multiple of kernels::kMaxBlock
// Rows are searched in slices below their maximum until they hold enough. Where the slices end has no influence on what is kept.
constexpr float kDeepest = 32;  // from here on, everything

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
void Truncation::gather(const ScannedRow& row, const kernels::Kernels& kernels, float above, float up_to) {
  const auto n = int64_t(row.logits.size());
  int32_t ids[kChunk];
  float logits[kChunk], masses[kChunk];
  for (int64_t start = 0; start < n; start += kChunk) {
    const float* from = row.logits.data() + start;
    const int64_t count = kernels.gather(from, std::min(kChunk, n - start), row.maxima + start / kernels::kMaxBlock, above, up_to, ids);
    if (count == 0) continue;
    for (int64_t i = 0; i < count; i++) logits[i] = from[ids[i]];
    kernels.exp_below(logits, count, row.max, masses);
    const size_t at = candidates_.size();
    candidates_.resize(at + size_t(count));
    for (int64_t i = 0; i < count; i++) candidates_[at + size_t(i)] = {logits[i], int32_t(start) + ids[i], uint64_t(int64_t(double(masses[i]) * kMassUnits))};
  }
}

// Of candidates_[low, end), where the needed mass is to be found: cuts the range to those of one sixteenth of a logit, and gives its end.
// What comes before them stays in front of them, and its mass is no longer needed.
size_t Truncation::narrow(size_t& low, uint64_t& needed, float max) {
  constexpr int kBins = 512;
  const auto bin = [max](const Candidate& c) { return int(std::min((max - c.logit) * 16, float(kBins - 1))); };
  uint64_t masses[kBins] = {};
  for (size_t i = low; i < candidates_.size(); i++) masses[bin(candidates_[i])] += candidates_[i].mass;
  int at = 0;
  for (; at + 1 < kBins && masses[at] < needed; at++) needed -= masses[at];
  size_t end = low;
  for (size_t i = low; i < candidates_.size(); i++) {  // without a branch: which way it goes cannot be foreseen
    const Candidate c = candidates_[i];
    candidates_[end] = c;
    end += bin(c) <= at;
  }
  const auto from = candidates_.begin() + std::ptrdiff_t(low), to = candidates_.begin() + std::ptrdiff_t(end);
  low = size_t(std::partition(from, to, [&](const Candidate& c) { return bin(c) < at; }) - candidates_.begin());
  return end;
}

// Of candidates_[first, end): how many of the head, in order, reach the needed mass; the head is moved to the front. At least one.
// Halves the range by nth_element, so the cost is linear in its length.
size_t Truncation::head_with_mass(size_t first, uint64_t needed, float max) {
  size_t low = first, high = candidates_.size();
  if (high - low > 512) high = narrow(low, needed, max);
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

// top-k, and top-p of what it leaves.
void Truncation::keep_first(const ScannedRow& row, const kernels::Kernels& kernels) {
  float up_to = kInfinity;
  for (float depth = 2; candidates_.size() < size_t(top_k_) && up_to > -kInfinity; depth += 2) {
    const float above = depth < kDeepest ? row.max - depth : -kInfinity;
    gather(row, kernels, above, up_to);
    up_to = above;
  }
  const size_t k = std::min(size_t(top_k_), candidates_.size());
  std::nth_element(candidates_.begin(), candidates_.begin() + std::ptrdiff_t(k) - 1, candidates_.end(), comes_before);
  candidates_.resize(k);
  if (top_p_ < 1) candidates_.resize(head_with_mass(0, uint64_t(double(total_mass(candidates_)) * double(top_p_)), row.max));
}

// top-p of the whole row. The flatter the row, the deeper it reaches, and the deeper the first slice.
void Truncation::keep_mass(const ScannedRow& row, const kernels::Kernels& kernels) {
  const double sum = double(kernels.sum_exp(row.logits.data(), int64_t(row.logits.size()), row.max));
  auto needed = uint64_t(sum * kMassUnits * double(top_p_));
  float up_to = kInfinity;
  for (float depth = 2 + 1.5f * float(math::log(sum));; depth += 1) {
    const float above = depth < kDeepest ? row.max - depth : -kInfinity;
    const size_t slice = candidates_.size();
    gather(row, kernels, above, up_to);
    const uint64_t added = total_mass(std::span(candidates_).subspan(slice));
    if (added >= needed || above == -kInfinity) {
      candidates_.resize(head_with_mass(slice, needed, row.max));
      return;
    }
    needed -= added;
    up_to = above;
  }
}

std::span<const Candidate> Truncation::keep(const ScannedRow& row, const kernels::Kernels& kernels) {
  candidates_.clear();
  if (top_k_ > 0) keep_first(row, kernels);
  else if (top_p_ < 1) keep_mass(row, kernels);
  else gather(row, kernels, std::nextafter(float(row.max + log_min_p_), -kInfinity), kInfinity);  // min-p alone is a threshold
  if (min_p_ > 0) std::erase_if(candidates_, [&](const Candidate& c) { return double(c.logit) - double(row.max) < log_min_p_; });
  return candidates_;
}

}  // namespace outrider
