#pragma once
// Small random models, for tests and demonstrations: a valid GGUF file in any architecture and block format, the same bytes for the same spec.
#include <map>
#include <string>

#include "base/result.h"
#include "quant/type.h"

namespace outrider {

struct SyntheticSpec {
  std::string architecture = "llama";  // llama, qwen2, qwen3 or gemma3
  uint64_t seed = 1;
  uint32_t layers = 2, width = 64, feed_forward = 128, heads = 4, kv_heads = 2;
  uint32_t head_dim = 0;  // 0: width / heads. qwen2 files can say no other value.
  uint32_t context = 2048;
  float rope_base = 10000;
  uint32_t sliding_window = 0, sliding_period = 0;  // of every sliding_period layers (0: what the architecture has) all but the last see so many positions
  bool tied = true;       // the head is the embedding matrix
  QuantType type = QuantType::q8_0;          // of every matrix that `types` does not name
  std::map<std::string, QuantType> types = {};  // by name without layer and ".weight": "attn_q", "ffn_down", "token_embd", "output", …
  uint32_t padding_tokens = 3;               // unused ids at the end of the vocabulary
  float logit_spread = 4;                    // standard deviation of the logits: larger is more certain
};

// The vocabulary is byte-level BPE: 256 bytes, a few dozen merges, <|endoftext|> <|im_start|> <|im_end|>, padding; with a ChatML template.
Result<void> write_synthetic_model(const std::string& path, const SyntheticSpec& spec);

}  // namespace outrider
