#include "model/gemma3.h"

#include <cmath>

#include "model/pass.h"

namespace outrider {

Result<void> Gemma3::read_keys(const GgufFile& file, Config& c) {
  const auto local_base = file.number_or("gemma3.rope.freq_base_swa", 10000), cap = file.number_or("gemma3.final_logit_softcapping", 0);
  if (!local_base) return local_base.error();
  if (!cap) return cap.error();
  if (!(*local_base > 1) || *cap != 0) return Error{file.path() + ": a local RoPE base or a cap of the logits that we cannot compute", "the file is of an unknown variant"};
  c.local_rope = plain_rope(double(*local_base), 2 * c.rope.pairs, c.rope.interleaved);
  if (c.layers == 62) c.attention_scale = 1.0f / std::sqrt(float(c.width / c.heads));  // the 27B alone, and no key says it
  return {};
}

// Norm weights are 1 + w in the file. The head is the embedding matrix.
void Gemma3::declare(WeightLoader& loader) {
  const Config& c = config_;
  loader.matrix("token_embd.weight", c.vocabulary, c.width, &embedding_);
  loader.vector("output_norm.weight", c.width, &output_norm_);
  layers_.resize(size_t(c.layers));
  for (int i = 0; i < c.layers; ++i) {
    Layer& l = layers_[size_t(i)];
    const std::string b = "blk." + std::to_string(i) + ".";
    loader.vector(b + "attn_norm.weight", c.width, &l.attention_norm);
    loader.matrix(b + "attn_q.weight", c.query_width(), c.width, &l.query);
    loader.matrix(b + "attn_k.weight", c.kv_width(), c.width, &l.key);
    loader.matrix(b + "attn_v.weight", c.kv_width(), c.width, &l.value);
    loader.vector(b + "attn_q_norm.weight", c.head_dim, &l.query_norm);
    loader.vector(b + "attn_k_norm.weight", c.head_dim, &l.key_norm);
    loader.matrix(b + "attn_output.weight", c.width, c.query_width(), &l.output);
    loader.vector(b + "post_attention_norm.weight", c.width, &l.post_attention_norm);
    loader.vector(b + "ffn_norm.weight", c.width, &l.ffn_norm);
    loader.matrix(b + "ffn_gate.weight", c.feed_forward, c.width, &l.gate);
    loader.matrix(b + "ffn_up.weight", c.feed_forward, c.width, &l.up);
    loader.matrix(b + "ffn_down.weight", c.width, c.feed_forward, &l.down);
    loader.vector(b + "post_ffw_norm.weight", c.width, &l.post_ffn_norm);
  }
}

// x ← x + RMSNorm(W_o · attention(RoPE(RMSNorm(W_q n)), RoPE(RMSNorm(W_k n)), W_v n)),   n = RMSNorm(x); q and k are normed head by head.
void Gemma3::attention(Pass& p, int index) const {
  const Layer& l = layers_[size_t(index)];
  const auto n = p.norm(p.stream(), l.attention_norm);
  p.multiply(n, {{&l.query, nullptr, p.query()}, {&l.key, nullptr, p.key()}, {&l.value, nullptr, p.value()}});
  p.norm_heads(p.query(), config_.heads, l.query_norm);
  p.norm_heads(p.key(), config_.kv_heads, l.key_norm);
  p.place(index, p.query(), p.key(), p.value());
  p.attend(index, p.query(), p.mixed());
  p.multiply(p.quantised(p.mixed(), config_.query_width()), {{&l.output, nullptr, p.branch()}});
  p.add_normed(p.branch(), l.post_attention_norm);
}

// x ← x + RMSNorm(W_down · (gelu(W_gate n) ⊙ W_up n)),   n = RMSNorm(x)
void Gemma3::feed_forward(Pass& p, int index) const {
  const Layer& l = layers_[size_t(index)];
  const auto n = p.norm(p.stream(), l.ffn_norm);
  p.multiply(p.gated(n, l.gate, l.up, Gate::gelu), {{&l.down, nullptr, p.branch()}});
  p.add_normed(p.branch(), l.post_ffn_norm);
}

void Gemma3::forward(Pass& p) const {
  p.embed(embedding_, std::sqrt(float(config_.width)));
  for (int i = 0; i < config_.layers; ++i) {
    attention(p, i);
    feed_forward(p, i);
  }
  p.project(p.stream(), output_norm_, embedding_);
}

}  // namespace outrider
