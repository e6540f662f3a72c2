#pragma once
// A loaded model: constant after load, shared by any number of passes. It knows nothing of drafting, sampling, pages or threads.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "gguf/file.h"
#include "kernels/attention.h"
#include "model/config.h"
#include "model/vocabulary.h"
#include "model/weights.h"
#include "state/pages.h"

namespace outrider {

class Pass;

class Model {
 public:
  virtual ~Model() = default;

  const Config& config() const { return config_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::string& path() const { return path_; }
  size_t weight_bytes() const { return weights_.size(); }
  // All of the model's, for choose_fetch(); and what it chose. Not while a pass runs.
  std::span<kernels::Matrix* const> matrices() { return matrices_; }
  kernels::Fetch fetch() const { return matrices_.empty() ? kernels::Fetch{} : matrices_[0]->fetch; }
  void set_fetch(kernels::Fetch fetch) {
    for (kernels::Matrix* m : matrices_) m->fetch = fetch;
  }

  // Rows of the output matrix that no text uses: never to be sampled.
  std::vector<TokenId> padding_ids() const;

  KvGeometry kv_geometry(kernels::KvType k_type, kernels::KvType v_type) const {
    return {config_.layers, config_.kv_heads, {k_type, v_type, config_.head_dim}};
  }

  // Declares every tensor of the family; the loader fills them.
  virtual void declare(WeightLoader& loader) = 0;
  // Runs the rows of the pass (see pass.h) through the network: writes their keys and values where they belong and leaves logits for
  // the rows that want them.
  virtual void forward(Pass& pass) const = 0;

 protected:
  Model(Config config, Vocabulary vocabulary, std::string path)
      : config_(std::move(config)), vocabulary_(std::move(vocabulary)), path_(std::move(path)) {}

  Config config_;
  Vocabulary vocabulary_;
  std::string path_;
  Memory weights_;
  std::vector<kernels::Matrix*> matrices_;

  friend struct ModelLoading;
};

using LoadProgress = std::function<void(size_t done_bytes, size_t total_bytes)>;

// What loading would reserve, from the header alone.
struct ModelPlan {
  Config config;
  Vocabulary vocabulary;
  size_t weight_bytes = 0;
  KvGeometry kv_geometry(kernels::KvType k_type, kernels::KvType v_type) const { return {config.layers, config.kv_heads, {k_type, v_type, config.head_dim}}; }
};
Result<ModelPlan> plan_model(const std::string& path, const LoadOptions& options = {});

// Opens, checks and loads. Errors: unreadable file, unknown architecture (the known ones are named), missing tensors, memory.
Result<std::unique_ptr<Model>> load_model(const std::string& path, ThreadPool& pool, const LoadProgress& progress = {}, const LoadOptions& options = {});

// The architectures load_model knows, for messages.
std::string supported_architectures();

}  // namespace outrider
