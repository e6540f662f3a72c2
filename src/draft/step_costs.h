#pragma once
// What a pass over n rows costs, learned from the passes themselves:
//
//   V(n) = live · max(one_row + 0.6 a_row (n − 1), 1.25 a_row n) · shape[n]
//
// one_row is the time one row takes (the weights are read once, whatever n is), a_row what a row costs among many, which reading a
// prompt shows: while reading the weights is the limit a further row hides a part of it, and few rows keep the units less busy than
// many. shape[n] is what was seen of n against that, so the steps of the real staircase stay. The first passes of a size count most;
// then all three change slowly, one_row and shape by context length, since attention grows. `live` is how the machine runs now: it
// follows every pass and calms down again, so that a lasting difference of one size does not become everybody's.
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/archive.h"

namespace outrider {

class StepCosts {
 public:
  static constexpr int kManyRows = 36;  // from here on arithmetic is the limit
  static constexpr int kRows = 33;  // up to here each n has a shape of its own

  bool known(int64_t context) const { return bucket(context).one_row_ms > 0; }
  // 0 while nothing was measured.
  double predict_ms(int rows, int64_t context) const;
  void learn(int rows, int64_t context, double ms);
  // What was learned, between runs. How fast the machine runs is not kept: the first pass of the next run tells it.
  void archive(Archive& archive);
  // That first pass over what it was expected to take, 1 before it; and whether our own prices have been held against it.
  double pace() const { return pace_; }
  bool paced() const { return paced_; }

 private:
  struct Bucket {
    double one_row_ms = 0;
    std::array<float, kRows> shape{};  // 0 = not seen
    std::array<uint8_t, kRows> seen{};  // passes, up to kFamiliar
  };
  static constexpr uint8_t kFamiliar = 8;
  static constexpr int kBuckets = 8;   // by powers of two from 1024 tokens
  static int index(int64_t context);
  const Bucket& bucket(int64_t context) const { return buckets_[std::size_t(index(context))]; }
  double shape_of(const Bucket& b, int rows) const;

  std::array<Bucket, kBuckets> buckets_{};
  double row_ms_ = 0;  // of passes over many rows
  double live_ = 1;
  double pace_ = 1;
  bool paced_ = true;   // live_ is this run's; false until the first pass after prices of an earlier run were read
};

}  // namespace outrider
