#include "draft/survival.h"

#include <algorithm>

#include "base/math.h"

namespace outrider {

namespace {

constexpr float kFade = 0.99f, kPriorWeight = 8, kPriorHalves = 16;

// Upper ends of the buckets of confidence: finer where drafts are long.
constexpr float kEnds[] = {0.03f, 0.08f, 0.15f, 0.25f, 0.37f, 0.5f, 0.63f, 0.75f, 0.85f, 0.92f, 0.97f};

}  // namespace

Survival::Survival() : joints_(size_t(1 << kMostSources) * kConfidences) { static_assert(std::size(kEnds) + 1 == kConfidences); }

void Survival::Cell::count(bool was_right) {
  right = right * kFade + (was_right ? 1.0f : 0.0f);
  seen = seen * kFade + 1;
}

int Survival::bucket_of(float c) { return int(std::upper_bound(std::begin(kEnds), std::end(kEnds), c) - std::begin(kEnds)); }

// The prior counts like eight cases at first, and less the more were seen: what never happens must come out as never.
float Survival::Cell::estimate(float prior) const {
  const float weight = kPriorWeight / (1 + seen / kPriorHalves);
  return (right + weight * prior) / (seen + weight);
}

float Survival::single(int source, const Guess& guess) const {
  return singles_[size_t(source)][size_t(guess.evidence)].estimate(guess.prior);
}

float Survival::joint(SourceSet set, float c, float prior) const {
  return joints_[size_t(set) * kConfidences + size_t(bucket_of(c))].estimate(prior);
}

void Survival::count_single(int source, int evidence, bool right) { singles_[size_t(source)][size_t(evidence)].count(right); }
void Survival::count_joint(SourceSet set, float c, bool right) { joints_[size_t(set) * kConfidences + size_t(bucket_of(c))].count(right); }

float Mood::shifted(float p) const {
  const float odds = p * float(math::exp(double(by_)));
  return odds / (odds + 1 - p);
}

void Mood::learn(float shifted_p, bool right) {
  constexpr float kRate = 0.12f, kMost = 3;
  by_ = std::clamp(by_ + kRate * ((right ? 1.0f : 0.0f) - shifted_p), -kMost, kMost);
}

}  // namespace outrider
