#include "draft/survival.h"

#include <algorithm>

namespace outrider {

namespace {

constexpr float kFade = 0.99f, kPriorWeight = 8;

// Upper ends of the buckets of confidence: finer where drafts are long.
constexpr float kEnds[] = {0.03f, 0.08f, 0.15f, 0.25f, 0.37f, 0.5f, 0.63f, 0.75f, 0.85f, 0.92f, 0.97f};

}  // namespace

Survival::Survival() : joints_(size_t(1 << kMostSources) * kConfidences) { static_assert(std::size(kEnds) + 1 == kConfidences); }

void Survival::Cell::count(bool was_right) {
  right = right * kFade + (was_right ? 1.0f : 0.0f);
  seen = seen * kFade + 1;
}

int Survival::bucket_of(float c) { return int(std::upper_bound(std::begin(kEnds), std::end(kEnds), c) - std::begin(kEnds)); }

float Survival::single(int source, const Guess& guess) const {
  const Cell& cell = singles_[size_t(source)][size_t(guess.evidence)];
  return (cell.right + kPriorWeight * guess.prior) / (cell.seen + kPriorWeight);
}

float Survival::joint(SourceSet set, float c, float prior) const {
  const Cell& cell = joints_[size_t(set) * kConfidences + size_t(bucket_of(c))];
  return (cell.right + kPriorWeight * prior) / (cell.seen + kPriorWeight);
}

void Survival::count_single(int source, int evidence, bool right) { singles_[size_t(source)][size_t(evidence)].count(right); }
void Survival::count_joint(SourceSet set, float c, bool right) { joints_[size_t(set) * kConfidences + size_t(bucket_of(c))].count(right); }

}  // namespace outrider
