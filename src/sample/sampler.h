#pragma once
// The choice of one token from one row of logits, always by the same chain:
//
//   1. logit bias            (kBanBias or less: the token is out)
//   2. penalties             over the last repeat_last_n tokens of the timeline, the prompt and the row's draft ancestors included:
//                            repeat    x > 0 ? x / r : x * r   for every token that occurs
//                            presence  x - p                   for every token that occurs
//                            frequency x - f * occurrences
//   3. temperature 0:        argmax, lowest id among equals; done
//   4. top-k, top-p, min-p   on probabilities at temperature 1 (truncate.h)
//   5. Gumbel-max            token = argmax over the survivors of (x / temperature + gumbel(seed, stream, position, token))
//
// Padding ids beyond the real vocabulary never take part. A choice is a pure function of its arguments, so the target and a drafter
// that both ask at the same place with the same logits choose the same token, in whatever order and company they ask.
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"
#include "sample/distribution.h"
#include "sample/settings.h"
#include "sample/truncate.h"

namespace outrider {

class Sampler {
 public:
  // settings must have passed validate(). vocabulary_size is the length of a row of logits; forbidden: ids that must never be
  // chosen (padding). All scratch is allocated here: about 5 bytes to 24 bytes per id, by what the settings need.
  Sampler(SamplingSettings settings, int32_t vocabulary_size, std::span<const int32_t> forbidden, const kernels::Kernels& kernels);

  // Of that scratch, whatever the settings are.
  static size_t most_bytes(int64_t vocabulary_size);

  // The token at `position` (the index in the sequence of the token that is being chosen). history: the committed tokens of the
  // timeline; ancestors: the draft tokens between them and this place, in order, the pending token first. Allocates nothing.
  // Not const only because of the scratch: one Sampler serves one thread at a time. NaN counts as -inf; if nothing is left, the
  // lowest id that is allowed.
  int choose(std::span<const float> logits, int64_t position, std::span<const int32_t> history, std::span<const int32_t> ancestors);

  // What choose() chooses from at that place: the same chain up to the noise. Written to `out`, which must hold a row; greedy settings
  // give one token. Allocates nothing.
  Distribution distribution(std::span<const float> logits, std::span<const int32_t> history, std::span<const int32_t> ancestors,
                            std::span<TokenProbability> out);

  const SamplingSettings& settings() const { return settings_; }

 private:
  std::span<const float> edited_row(std::span<const float> logits, std::span<const int32_t> history, std::span<const int32_t> ancestors);
  void apply_penalties(std::span<const int32_t> history, std::span<const int32_t> ancestors);
  std::span<const float> without_nan(std::span<const float> row);
  ScannedRow scan(std::span<const float> row);
  int choose_greedy(std::span<const float> row);
  int choose_random(std::span<const float> logits, int64_t position);

  SamplingSettings settings_;
  const kernels::Kernels& kernels_;
  int32_t vocabulary_size_;
  int32_t live_size_;      // ids from here on are all forbidden: the usual place of padding, cut off for nothing
  int32_t lowest_allowed_;
  std::vector<int32_t> banned_;      // below live_size_
  std::vector<LogitBias> biases_;    // the others
  Truncation truncation_;
  std::vector<float> edited_;        // the row after steps 1 and 2
  std::vector<float> maxima_;        // of the blocks of the row
  std::vector<int32_t> occurrences_;  // by token, all zero between calls
  std::vector<int32_t> occurring_;
};

// log of the softmax at temperature 1 of the unedited row, for log-probabilities.
double log_probability(const kernels::Kernels& kernels, std::span<const float> logits, int32_t token);
// The same as a probability: what drafters compare with their p_min.
float top_probability(const kernels::Kernels& kernels, std::span<const float> logits, int32_t token);

}  // namespace outrider
