#pragma once
// The llama, qwen2 and qwen3 families: pre-norm decoders with rotary attention and SwiGLU.
#include <memory>
#include <vector>

#include "model/model.h"

namespace outrider {

class Llama final : public Model {
 public:
  Llama(Config config, Vocabulary vocabulary, std::string path) : Model(std::move(config), std::move(vocabulary), std::move(path)) {}

  void declare(WeightLoader& loader) override;
  void forward(Pass& pass) const override;

 private:
  struct Layer {
    const float *attention_norm = nullptr, *ffn_norm = nullptr;
    kernels::Matrix query, key, value, output, gate, up, down;
    const float *query_bias = nullptr, *key_bias = nullptr, *value_bias = nullptr, *output_bias = nullptr;  // qwen2; optional elsewhere
    const float *query_norm = nullptr, *key_norm = nullptr;                                                // qwen3
  };
  void attention(Pass& pass, int index) const;
  void feed_forward(Pass& pass, int index) const;

  kernels::Matrix embedding_, own_output_;
  bool tied_ = true;
  const float* output_norm_ = nullptr;
  std::vector<Layer> layers_;
};

}  // namespace outrider
