#pragma once
// A smaller model writes ahead (Leviathan et al. 2023, arXiv:2211.17192). It keeps timelines of its own and applies the request's
// whole sampler chain with the same noise at the same positions, so that a model drafting for itself is always right.
#include <memory>
#include <unordered_map>

#include "draft/drafter.h"
#include "draft/pace.h"
#include "model/model.h"
#include "model/pass.h"
#include "sample/sampler.h"
#include "state/prefix.h"

namespace outrider {

class ModelDrafter final : public Drafter {
 public:
  struct Options {
    DraftLimits limits;
    kernels::KvType k_type = kernels::KvType::f16, v_type = kernels::KvType::f16;
    int64_t context = 4096;  // tokens of one request
    int requests = 1;        // at once
    int kept_prefixes = 1;
  };
  // Bytes make() will reserve beside the weights.
  static size_t bytes(const ModelPlan& plan, const Options& options);
  // The model must outlive the drafter. Check compare_vocabularies first.
  static Result<std::unique_ptr<ModelDrafter>> make(const Model& model, const kernels::Kernels& kernels, ThreadPool& pool, Options options);

  std::string_view kind() const override { return "model"; }
  Result<void> begin(int64_t request, std::span<const int32_t> prompt, const SamplingSettings& sampling) override;
  void end(int64_t request) override;
  void propose(std::span<DraftJob> jobs) override;
  void observe(std::span<const DraftOutcome> outcomes) override;

 private:
  struct Line {
    Timeline timeline;
    Sampler sampler;
    int catch_up = 0;  // leading window rows: committed by the target, not yet by us
    std::array<int, kMaxDraftRows> window_row;  // of a tree row, or -1 when it was not fed
    int tree_row = 0;                           // whose continuation comes next
    bool writing = false;
    bool read_text = false;  // this round also read text, which says nothing about drafting
    Pace pace;
  };
  ModelDrafter(const Model& model, const kernels::Kernels& kernels, Options options);
  bool catch_up(Line& line, const DraftJob& job);
  void choose_next(Line& line, DraftJob& job, std::span<const float> logits);

  const Model& model_;
  const kernels::Kernels& kernels_;
  Options options_;
  std::optional<PagePool> pages_;
  std::optional<Pass> pass_;
  std::optional<PrefixCache> kept_;
  std::vector<int32_t> padding_;  // ids that no text uses
  std::unordered_map<int64_t, Line> lines_;
};

}  // namespace outrider
