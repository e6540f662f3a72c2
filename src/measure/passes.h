#pragma once
// How long one pass of the target takes: over n new rows of one sequence with logits for all, and over a 512-token prompt.
#include <span>
#include <vector>

#include "base/clock.h"
#include "model/model.h"
#include "model/pass.h"

namespace outrider {

struct PassTimes {
  struct Row {
    int n;
    double ms, q1_ms, q3_ms;  // median and quartiles over the rounds
  };
  std::vector<Row> rows;
  double prefill512_ms = 0;  // median of three
  int64_t depth = 0;
};

// Every round runs each n once, so that all of them see the same moods of the machine. The first round is not counted.
Result<PassTimes> time_passes(const Model& model, const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock, std::span<const int> sizes, int64_t depth, int rounds);

}  // namespace outrider
