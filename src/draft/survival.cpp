#include "draft/survival.h"

#include <algorithm>
#include <span>

#include "base/math.h"

namespace outrider {

namespace {

constexpr float kFade = 0.99f, kPriorWeight = 24, kPriorHalves = 16;
constexpr float kStiff = 4, kToldFade = 0.97f, kMost = 3;  // of a mood: Σ p (1 − p) that what was usual counts for; how long it is remembered

// Upper ends of the buckets of confidence: finer where drafts are long.
constexpr float kEnds[] = {0.03f, 0.08f, 0.15f, 0.25f, 0.37f, 0.5f, 0.63f, 0.75f, 0.85f, 0.92f, 0.97f};
constexpr float kRivalEnds[] = {0.12f, 0.35f, 0.65f};

size_t bucket(std::span<const float> ends, float x) { return size_t(std::ranges::upper_bound(ends, x) - ends.begin()); }

}  // namespace

Survival::Survival() : joints_(size_t(1 << kMostSources) * kConfidences * kRivals) { static_assert(std::size(kEnds) + 1 == kConfidences && std::size(kRivalEnds) + 1 == kRivals); }

void Survival::Cell::count(bool was_right) {
  right = right * kFade + (was_right ? 1.0f : 0.0f);
  seen = seen * kFade + 1;
}

size_t Survival::joint_cell(SourceSet set, float c, float rival) { return (size_t(set) * kConfidences + bucket(kEnds, c)) * kRivals + bucket(kRivalEnds, rival); }

// The prior, which was counted too, counts like two dozen cases at first, and less the more were seen: what never happens must come out
// as never.
float Survival::Cell::estimate(float prior) const {
  const float weight = kPriorWeight / (1 + seen / kPriorHalves);
  return (right + weight * prior) / (seen + weight);
}

float Survival::single(int source, const Guess& guess) const {
  return singles_[size_t(source)][size_t(guess.evidence)].estimate(guess.prior);
}

float Survival::joint(SourceSet set, float c, float rival, float prior) const {
  return joints_[joint_cell(set, c, rival)].estimate(prior);
}

void Survival::count_single(int source, int evidence, bool right) { singles_[size_t(source)][size_t(evidence)].count(right); }
void Survival::count_joint(SourceSet set, float c, float rival, bool right) { joints_[joint_cell(set, c, rival)].count(right); }

// Nothing is believed that counting could not have given.
void Survival::Cell::archive(Archive& archive) {
  Cell read = *this;
  archive.value(read);
  const bool sound = read.right >= 0 && read.right <= read.seen && read.seen <= 1 / (1 - kFade) + 1;
  *this = sound ? read : Cell();
}

void Survival::archive(Archive& archive) {
  for (auto& source : singles_)
    for (Cell& cell : source) cell.archive(archive);
  for (Cell& cell : joints_) cell.archive(archive);
}

float Mood::shifted(float p) const {
  const float odds = p * float(math::exp(double(by_)));
  return odds / (odds + 1 - p);
}

void Mood::archive(Archive& archive) {
  float by = by_;
  archive.value(by);
  by_ = by >= -kMost && by <= kMost ? by : 0;
}

void Mood::learn(float shifted_p, bool right) {
  told_ = kToldFade * told_ + shifted_p * (1 - shifted_p);
  by_ = std::clamp(by_ + ((right ? 1.0f : 0.0f) - shifted_p) / (kStiff + told_), -kMost, kMost);
}

}  // namespace outrider
