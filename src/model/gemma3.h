#pragma once
// The gemma3 family (text): sliding layers with a rotation of their own, norms before and after each half of a layer, GeGLU.
#include <vector>

#include "model/model.h"

namespace outrider {

class Gemma3 final : public Model {
 public:
  static constexpr int kSlidingPeriod = 6;  // five layers slide, the sixth sees everything

  Gemma3(Config config, Vocabulary vocabulary, std::string path) : Model(std::move(config), std::move(vocabulary), std::move(path)) {}

  // What other families have not.
  static Result<void> read_keys(const GgufFile& file, Config& config);
  void declare(WeightLoader& loader) override;
  void forward(Pass& pass) const override;

 private:
  struct Layer {
    const float *attention_norm = nullptr, *post_attention_norm = nullptr, *ffn_norm = nullptr, *post_ffn_norm = nullptr;
    const float *query_norm = nullptr, *key_norm = nullptr;
    kernels::Matrix query, key, value, output, gate, up, down;
  };
  void attention(Pass& pass, int index) const;
  void feed_forward(Pass& pass, int index) const;

  kernels::Matrix embedding_;
  const float* output_norm_ = nullptr;
  std::vector<Layer> layers_;
};

}  // namespace outrider
