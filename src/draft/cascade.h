#pragma once
// Two drafters together: the n-gram when its match is long (free and usually right), else the model.
#include "draft/model_drafter.h"
#include "draft/ngram.h"

namespace outrider {

class Cascade final : public Drafter {
 public:
  Cascade(std::unique_ptr<NgramDrafter> ngram, std::unique_ptr<Drafter> model, int long_match)
      : ngram_(std::move(ngram)), model_(std::move(model)), long_match_(long_match) {}

  std::string_view kind() const override { return "ngram+model"; }
  Result<void> begin(int64_t request, std::span<const int32_t> prompt, const SamplingSettings& sampling) override;
  void end(int64_t request) override;
  void propose(std::span<DraftJob> jobs) override;
  void observe(std::span<const DraftOutcome> outcomes) override;

 private:
  std::unique_ptr<NgramDrafter> ngram_;
  std::unique_ptr<Drafter> model_;
  int long_match_;  // tokens
  std::vector<DraftJob> for_model_;
};

}  // namespace outrider
