#pragma once
// Drafts what followed the last time the same tokens stood in the prompt or the answer (prompt lookup decoding, Saxena 2023).
// Needs no model. The longest match wins, the latest among equals.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "draft/drafter.h"
#include "draft/pace.h"

namespace outrider {

class NgramDrafter final : public Drafter {
 public:
  struct Options {
    DraftLimits limits{.max = 8, .min = 0, .min_probability = 0};
    int shortest_match = 3;  // tokens
    int longest_match = 32;  // where counting stops
    int64_t context = 4096;  // tokens of one request: memory is taken for them at its begin
  };
  explicit NgramDrafter(Options options) : options_(options) {}

  std::string_view kind() const override { return "ngram"; }
  Result<void> begin(int64_t request, std::span<const int32_t> prompt, const SamplingSettings& sampling) override;
  void end(int64_t request) override;
  void propose(std::span<DraftJob> jobs) override;
  void observe(std::span<const DraftOutcome> outcomes) override;

  // Length of the longest match for this job, 0 when there is none. For the cascade.
  int match_length(const DraftJob& job);

 private:
  struct Corpus {
    std::vector<int32_t> tokens;    // committed ones, then the pending one
    std::vector<int32_t> previous;  // by position: the last earlier position whose n-gram fell into the same slot, or -1
    std::vector<int32_t> latest;    // by slot (hash of the n-gram that ends at a position): the latest position, or -1
    float trust = 1;                // decayed mean of accepted tokens a proposal: long drafts are earned
    int proposed_from = -1, match = 0;  // last look-up
    Pace pace;
  };
  void append(Corpus& corpus, int32_t token) const;
  void follow(Corpus& corpus, const DraftJob& job) const;
  void look_up(Corpus& corpus) const;

  Options options_;
  std::unordered_map<int64_t, Corpus> corpora_;
};

}  // namespace outrider
