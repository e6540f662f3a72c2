#include "draft/cascade.h"

namespace outrider {

Result<void> Cascade::begin(int64_t request, std::span<const int32_t> prompt, const SamplingSettings& sampling) {
  if (auto r = ngram_->begin(request, prompt, sampling); !r) return r;
  if (auto r = model_->begin(request, prompt, sampling); !r) {
    ngram_->end(request);
    return r;
  }
  return {};
}

void Cascade::end(int64_t request) { ngram_->end(request), model_->end(request); }

void Cascade::propose(std::span<DraftJob> jobs) {
  for_model_.clear();
  for (DraftJob& job : jobs) {
    if (ngram_->match_length(job) >= long_match_) ngram_->propose({&job, 1});
    if (job.draft->size() == 0) for_model_.push_back(job);
  }
  if (!for_model_.empty()) model_->propose(for_model_);
}

void Cascade::observe(std::span<const DraftOutcome> outcomes) { ngram_->observe(outcomes), model_->observe(outcomes); }

}  // namespace outrider
