#pragma once
// How a request wants its tokens chosen. The order in which these act is written in sampler.h.
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace outrider {

struct LogitBias {
  int32_t token;
  float bias;  // added to the logit; kBanBias or less forbids the token
};

constexpr float kBanBias = -100;

struct SamplingSettings {
  float temperature = 0.7f;     // 0 = greedy
  int32_t top_k = 0;            // 0 = off
  float top_p = 0.95f;          // 1 = off
  float min_p = 0;              // 0 = off
  float repeat_penalty = 1;     // 1 = off
  int32_t repeat_last_n = 64;   // tokens that the three penalties look back on; 0 = none, -1 = the whole context
  float presence_penalty = 0;   // 0 = off
  float frequency_penalty = 0;  // 0 = off
  std::vector<LogitBias> logit_bias;
  uint64_t seed = 0;
  uint64_t stream = 0;  // tells apart the choices of one request and its retries

  bool greedy() const { return temperature == 0; }
  bool has_penalties() const {
    return repeat_last_n != 0 && (repeat_penalty != 1 || presence_penalty != 0 || frequency_penalty != 0);
  }
};

// Names the first value out of range and the range. vocabulary_size bounds the tokens of logit_bias.
Result<void> validate(const SamplingSettings& settings, int32_t vocabulary_size);

}  // namespace outrider
