#pragma once
// top-k, top-p and min-p over a row of logits, without ever sorting the vocabulary.
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"
#include "sample/settings.h"

namespace outrider {

// A row of logits and what block_max says of it.
struct ScannedRow {
  std::span<const float> logits;
  const float* maxima;
  float max;
};

// Maxima of a row.
inline size_t blocks_in(int64_t row_size) { return size_t((row_size + kernels::kMaxBlock - 1) / kernels::kMaxBlock); }

struct Candidate {
  float logit;
  int32_t token;
  uint64_t mass;  // exp32(logit - max) in units of 2^-40: integers, so that a sum does not depend on the order of its terms
};

// Total order: more probable first, lowest id among equals. Every cut below is a cut in this order.
inline bool comes_before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

class Truncation {
 public:
  Truncation(const SamplingSettings& settings, int32_t row_size);

  bool active() const { return top_k_ > 0 || top_p_ < 1 || min_p_ > 0; }

  // The candidates that survive, in no particular order:
  //   top-k: the k first;  then top-p: of those, the shortest head whose mass reaches p of their mass (never empty);
  //   then min-p: those with probability >= min_p times the largest. Probabilities are those at temperature 1.
  // The row's maximum must be finite; NaN and -inf entries never survive. Valid until the next call; allocates nothing.
  std::span<const Candidate> keep(const ScannedRow& row, const kernels::Kernels& kernels);

 private:
  void gather(const ScannedRow& row, const kernels::Kernels& kernels, float above, float up_to);
  void keep_first(const ScannedRow& row, const kernels::Kernels& kernels);
  void keep_mass(const ScannedRow& row, const kernels::Kernels& kernels);
  size_t narrow(size_t& low, uint64_t& needed, float max);
  size_t head_with_mass(size_t first, uint64_t needed, float max);

  int32_t top_k_;
  float top_p_, min_p_;
  double log_min_p_;
  std::vector<Candidate> candidates_;  // capacity: the whole row
};

}  // namespace outrider
