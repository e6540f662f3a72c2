#pragma once
// The shape of a decoder-only transformer, read from GGUF keys.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gguf/file.h"
#include "model/rope.h"

namespace outrider {

// What the model's makers advise (general.sampling.*), where the file says it.
struct SamplingAdvice {
  std::optional<float> temperature, top_p, min_p;
  std::optional<int> top_k;
};

struct Config {
  std::string architecture, name;
  int layers = 0;
  int width = 0;         // of the residual stream
  int feed_forward = 0;
  int heads = 0, kv_heads = 0, head_dim = 0;
  int64_t context_length = 0;  // trained
  int64_t vocabulary = 0;      // rows of the output matrix, padding included
  float rms_epsilon = 0;
  std::vector<int> horizons;  // a layer's sliding window: how many positions a row sees, itself included; 0: all
  float attention_scale = 0;  // of q·k
  Rope rope;
  std::optional<Rope> local_rope;  // of layers with a horizon, where theirs is another
  SamplingAdvice advice;

  int horizon(int layer) const { return horizons[size_t(layer)]; }
  int group() const { return heads / kv_heads; }       // query heads per kv head
  int query_width() const { return heads * head_dim; }
  int kv_width() const { return kv_heads * head_dim; }
};

// Keys common to all families. Every value is bounded; the first impossible one is named. Where the file has a sliding window but does
// not say in which layers, all but the last of `sliding_period` have it; 0: none.
Result<Config> read_config(const GgufFile& file, bool interleaved_rope, int sliding_period = 0);

}  // namespace outrider
