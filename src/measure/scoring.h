#pragma once
// Perplexity and raw logits of known text.
#include <span>
#include <vector>

#include "model/model.h"
#include "model/pass.h"

namespace outrider {

struct Scoring {
  const Model& model;
  const kernels::Kernels& kernels;
  ThreadPool& pool;
  kernels::KvType k_type = kernels::KvType::f16, v_type = kernels::KvType::f16;
};

struct Perplexity {
  double perplexity = 0;
  int64_t scored = 0, chunks = 0;
};

// Over whole chunks of `chunk` tokens, each with an empty past, scoring the tokens that follow positions chunk/2 … chunk−2.
// Error when the text is shorter than one chunk.
Result<Perplexity> perplexity(const Scoring& scoring, std::span<const TokenId> ids, int64_t chunk);

// Calls row(i, logits) for every position of the sequence.
Result<void> for_each_logits(const Scoring& scoring, std::span<const TokenId> ids, const std::function<Result<void>(int64_t, std::span<const float>)>& row);

}  // namespace outrider
