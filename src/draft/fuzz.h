#pragma once
// Deliberately awkward drafts: random trees and tokens, right tokens under wrong parents, duplicates among siblings, drafts as long as
// the budget allows. A text that survives it does not depend on its drafter. For tests and `outrider verify`.
#include <unordered_map>
#include <vector>

#include "draft/drafter.h"

namespace outrider {

class FuzzDrafter final : public Drafter {
 public:
  // truth: what the answer is expected to be (from a plain run); empty is fine. vocabulary: random tokens are below it.
  FuzzDrafter(uint64_t seed, int32_t vocabulary, std::vector<int32_t> truth) : state_(seed), vocabulary_(vocabulary), truth_(std::move(truth)) {}

  std::string_view kind() const override { return "fuzz"; }
  Result<void> begin(int64_t request, const DraftRequest& about) override;
  void end(int64_t request) override { prompt_tokens_.erase(request); }
  DraftEffort propose(std::span<DraftJob> jobs, const DraftBudget& budget) override;
  void observe(std::span<const DraftOutcome>) override {}

 private:
  uint64_t random();
  int32_t token(const DraftJob& job, int depth);

  uint64_t state_;
  int32_t vocabulary_;
  std::vector<int32_t> truth_;
  std::unordered_map<int64_t, size_t> prompt_tokens_;
};

}  // namespace outrider
