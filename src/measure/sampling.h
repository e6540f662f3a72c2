#pragma once
// What the choice of one token costs, by setting, over rows of logits that are visited in turn: a row is as cold as the pass would leave it.
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kernels/kernels.h"
#include "sample/settings.h"

namespace outrider {

using LogitRows = std::vector<std::vector<float>>;

// Rows of `vocabulary` logits: a bell of standard deviation 2.5, and thirty tokens that stand out of its middle by lead, lead − 0.4, …
// lead 18 is a model that is sure, 0 one that knows nothing.
LogitRows synthetic_rows(int rows, int32_t vocabulary, float lead);

struct SamplingTime {
  std::string setting;
  double ms, q1_ms, q3_ms;  // a row: median and quartiles over the rounds
};

// Greedy, the default chain, and the default chain with each of its other parts. A round chooses one token from every row with every setting.
std::vector<SamplingTime> time_sampling(const kernels::Kernels& kernels, const Clock& clock, const LogitRows& rows, int rounds);

}  // namespace outrider
