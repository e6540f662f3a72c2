#include "model/llama.h"

#include "model/pass.h"

namespace outrider {

void Llama::declare(WeightLoader& loader) {
  const Config& c = config_;
  tied_ = !loader.has("output.weight");
  if (tied_) loader.matrix("token_embd.weight", c.vocabulary, c.width, &embedding_);
  else loader.table("token_embd.weight", c.vocabulary, c.width, &embedding_), loader.matrix("output.weight", c.vocabulary, c.width, &own_output_);
  loader.vector("output_norm.weight", c.width, &output_norm_);
  layers_.resize(size_t(c.layers));
  for (int i = 0; i < c.layers; ++i) {
    Layer& l = layers_[size_t(i)];
    const std::string b = "blk." + std::to_string(i) + ".";
    loader.vector(b + "attn_norm.weight", c.width, &l.attention_norm);
    loader.matrix(b + "attn_q.weight", c.query_width(), c.width, &l.query);
    loader.matrix(b + "attn_k.weight", c.kv_width(), c.width, &l.key);
    loader.matrix(b + "attn_v.weight", c.kv_width(), c.width, &l.value);
    loader.matrix(b + "attn_output.weight", c.width, c.query_width(), &l.output);
    if (c.architecture == "qwen2") {
      loader.vector(b + "attn_q.bias", c.query_width(), &l.query_bias);
      loader.vector(b + "attn_k.bias", c.kv_width(), &l.key_bias);
      loader.vector(b + "attn_v.bias", c.kv_width(), &l.value_bias);
    } else {
      loader.optional_vector(b + "attn_q.bias", c.query_width(), &l.query_bias);
      loader.optional_vector(b + "attn_k.bias", c.kv_width(), &l.key_bias);
      loader.optional_vector(b + "attn_v.bias", c.kv_width(), &l.value_bias);
    }
    loader.optional_vector(b + "attn_output.bias", c.width, &l.output_bias);
    if (c.architecture == "qwen3") {
      loader.vector(b + "attn_q_norm.weight", c.head_dim, &l.query_norm);
      loader.vector(b + "attn_k_norm.weight", c.head_dim, &l.key_norm);
    }
    loader.vector(b + "ffn_norm.weight", c.width, &l.ffn_norm);
    loader.matrix(b + "ffn_gate.weight", c.feed_forward, c.width, &l.gate);
    loader.matrix(b + "ffn_up.weight", c.feed_forward, c.width, &l.up);
    loader.matrix(b + "ffn_down.weight", c.width, c.feed_forward, &l.down);
  }
}

// x ← x + W_o · attention(RoPE(W_q n + b_q), RoPE(W_k n + b_k), W_v n + b_v),   n = RMSNorm(x)
// qwen3 normalises each head of q and k before the rotation.
void Llama::attention(Pass& p, int index) const {
  const Layer& l = layers_[size_t(index)];
  const auto n = p.norm(p.stream(), l.attention_norm);
  p.multiply(n, {{&l.query, l.query_bias, p.query()}, {&l.key, l.key_bias, p.key()}, {&l.value, l.value_bias, p.value()}});
  if (l.query_norm) p.norm_heads(p.query(), config_.heads, l.query_norm);
  if (l.key_norm) p.norm_heads(p.key(), config_.kv_heads, l.key_norm);
  p.place(index, p.query(), p.key(), p.value());
  p.attend(index, p.query(), p.mixed());
  p.multiply(p.quantised(p.mixed(), config_.query_width()), {{&l.output, l.output_bias, p.stream(), true}});
}

// x ← x + W_down · (silu(W_gate n) ⊙ W_up n),   n = RMSNorm(x)
void Llama::feed_forward(Pass& p, int index) const {
  const Layer& l = layers_[size_t(index)];
  const auto n = p.norm(p.stream(), l.ffn_norm);
  p.multiply(p.gated(n, l.gate, l.up), {{&l.down, nullptr, p.stream(), true}});
}

void Llama::forward(Pass& p) const {
  p.embed(embedding_);
  for (int i = 0; i < config_.layers; ++i) {
    attention(p, i);
    feed_forward(p, i);
  }
  p.project(p.stream(), output_norm_, tied_ ? embedding_ : own_output_);
}

}  // namespace outrider
