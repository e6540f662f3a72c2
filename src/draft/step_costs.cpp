#include "draft/step_costs.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace outrider {

namespace {

constexpr double kMoreRow = 0.02;    // of the first, a further one at least
constexpr double kHidden = 0.6;      // of a row among many, what it costs while reading the weights is the limit
constexpr double kFew = 1.25;        // against a row among many, when arithmetic is the limit
constexpr double kUnknownRow = 0.125;  // of the first, a row among many until it was seen
constexpr int kFewRows = 8;          // up to here reading the weights is the limit
constexpr double kLive = 0.25, kShape = 0.12, kOneRow = 0.3;  // weights of the newest sample
constexpr double kFirstShape = 0.7;  // of the first sample of a size, which says less of the machine than of the size
constexpr double kCalm = 0.95;        // how far a burst's log lasts into the next pass: what stays belongs to one size, not to the machine
constexpr double kOtherSpeed = 1.6;  // a run that differs so much is not memory's mood: a load that is gone, or came, lies in all prices read
constexpr double kLeastShape = 0.3, kMostShape = 3;
constexpr double kOdd = 1.6;         // a sample further off than this (another program had the processor) counts as this far

double blend(double old, double fresh, double weight) { return old + weight * (fresh - old); }

}  // namespace

int StepCosts::index(int64_t context) {
  return std::clamp(int(std::bit_width(uint64_t(std::max<int64_t>(context, 0)) / 1024)), 0, kBuckets - 1);
}

// What was seen of n; else of the nearest n on the same side of the knee; else 1.
double StepCosts::shape_of(const Bucket& b, int rows) const {
  if (b.shape[size_t(rows)] > 0) return b.shape[size_t(rows)];
  for (int off = 1; off < 8; ++off)
    for (const int near : {rows - off, rows + off})
      if (near > 1 && near < kRows && (near - 1) / 8 == (rows - 1) / 8 && b.shape[size_t(near)] > 0) return b.shape[size_t(near)];
  return 1;
}

double StepCosts::predict_ms(int rows, int64_t context) const {
  const Bucket* b = &bucket(context);
  for (int i = index(context); b->one_row_ms == 0 && i > 0;) b = &buckets_[size_t(--i)];
  if (b->one_row_ms == 0) return 0;
  const double one = b->one_row_ms, row = row_ms_ > 0 ? row_ms_ : one * kUnknownRow;
  if (rows >= kManyRows) return live_ * std::max(one, row * rows);
  const double base = std::max(one + std::max(kMoreRow * one, kHidden * row) * (rows - 1), kFew * row * rows);
  return live_ * (rows <= 1 ? one : base * shape_of(*b, std::min(rows, kRows - 1)));
}

void StepCosts::learn(int rows, int64_t context, double ms) {
  if (rows < 1 || !(ms > 0)) return;
  if (rows >= kManyRows) {
    if (!paced_ && row_ms_ > 0) return;
    const double row = ms / rows / live_;
    row_ms_ = row_ms_ > 0 ? blend(row_ms_, row, kLive) : row;
    return;
  }
  Bucket& b = buckets_[size_t(index(context))];
  const double expected = predict_ms(rows, context);
  if (expected == 0) {
    if (rows <= kFewRows) b.one_row_ms = ms / live_ / (1 + kMoreRow * (rows - 1));
    return;
  }
  if (b.one_row_ms == 0) b.one_row_ms = rows == 1 ? ms / live_ : predict_ms(1, context) / live_;  // a neighbour's, until a row alone is seen here
  if (!paced_) {
    live_ = pace_ = ms / expected, paced_ = true;
    if (live_ < kOtherSpeed && live_ > 1 / kOtherSpeed) return;
    for (Bucket& known : buckets_) known.one_row_ms *= live_;
    row_ms_ *= live_, live_ = 1;
    return;
  }
  const double off = std::clamp(ms / expected, 1 / kOdd, kOdd);
  uint8_t* seen = rows > 1 && rows < kRows ? &b.seen[size_t(rows)] : nullptr;
  const double fresh = seen ? std::max(0.0, kFirstShape / (1 + *seen) - kShape) : 0;  // weight that goes to the size instead of the machine
  live_ = std::pow(live_, kCalm) * std::pow(off, std::max(0.0, kLive - fresh));
  if (rows == 1) b.one_row_ms *= std::pow(off, kOneRow);
  if (!seen) return;
  b.shape[size_t(rows)] = float(std::clamp(shape_of(b, rows) * std::pow(off, kShape + fresh), kLeastShape, kMostShape));
  *seen = std::min<uint8_t>(uint8_t(*seen + 1), kFamiliar);
}

void StepCosts::archive(Archive& archive) {
  const auto sound = [](double ms) { return std::isfinite(ms) && ms > 0 ? ms : 0; };
  for (Bucket& b : buckets_) {
    archive.value(b.one_row_ms), archive.value(b.shape), archive.value(b.seen);
    b.one_row_ms = sound(b.one_row_ms);
    for (float& s : b.shape) s = s >= kLeastShape && s <= kMostShape ? s : 0;
  }
  archive.value(row_ms_);
  row_ms_ = sound(row_ms_);
  if (archive.reading()) live_ = pace_ = 1, paced_ = false;
}

}  // namespace outrider
