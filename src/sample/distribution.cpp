#include "sample/distribution.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/math.h"
#include "sample/sampler.h"

namespace outrider {

float probability_of(Distribution distribution, int32_t token) {
  const auto found = std::ranges::lower_bound(distribution, token, {}, &TokenProbability::token);
  return found != distribution.end() && found->token == token ? found->probability : 0;
}

int32_t draw(Distribution weights, double uniform) {
  double total = 0, sum = 0;
  for (const TokenProbability& t : weights) total += double(t.probability);
  int32_t last = -1;
  for (const TokenProbability& t : weights) {
    if (!(t.probability > 0)) continue;
    last = t.token, sum += double(t.probability);
    if (sum > uniform * total) break;
  }
  return last;
}

Distribution Sampler::distribution(std::span<const float> logits, std::span<const int32_t> history, std::span<const int32_t> ancestors,
                                   std::span<TokenProbability> out) {
  OUTRIDER_CHECK(logits.size() == size_t(vocabulary_size_) && out.size() >= logits.size());
  const std::span<const float> edited = edited_row(logits.first(size_t(live_size_)), history, ancestors);
  const auto certain = [&](int32_t token) -> Distribution {
    out[0] = {token >= 0 ? token : lowest_allowed_, 1};
    return out.first(1);
  };
  if (settings_.greedy()) return certain(choose_greedy(edited));
  const ScannedRow row = scan(edited);
  if (row.max == -std::numeric_limits<float>::infinity()) return certain(-1);

  size_t count = 0;
  double sum = 0;
  const auto add = [&](float logit, int32_t token) {
    const float weight = float(math::exp((double(logit) - double(row.max)) / double(settings_.temperature)));
    if (weight > 0) out[count++] = {token, weight}, sum += double(weight);  // false for NaN
  };
  if (truncation_.active()) {
    for (const Candidate& c : truncation_.keep(row, kernels_)) add(c.logit, c.token);
    std::ranges::sort(out.first(count), {}, &TokenProbability::token);
  } else {
    for (size_t i = 0; i < row.logits.size(); i++) add(row.logits[i], int32_t(i));
  }
  for (TokenProbability& t : out.first(count)) t.probability = float(double(t.probability) / sum);
  return out.first(count);
}

}  // namespace outrider
