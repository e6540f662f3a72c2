#include "model/synthetic.h"

#include <cmath>

#include "gguf/writer.h"
#include "model/byte_level.h"
#include "model/vocabulary.h"
#include "quant/encode.h"

namespace outrider {
namespace {

// Merges, each from two texts that are tokens by then. Ġ is the space of byte-level vocabularies.
constexpr const char* kMerges[] = {"t h", "h e", "th e", "i n", "a n", "e r", "o n", "r e", "o r", "e n", "a t", "o u", "i s", "l l", "e s", "s t",
                                   "an d", "in g", "Ġ the", "Ġ t", "Ġ a", "Ġ s", "Ġ o", "Ġ w", "Ġ i", "Ġo f", "Ġt o", "Ġ and", "Ġi s", "Ġ in", "er e",
                                   "Ġ Ġ", "ĠĠ ĠĠ", "r n", "u rn", "et urn", "e t", "Ġ =", "( )", "Ċ Ċ"};
constexpr const char* kChatMl =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

class SyntheticWriter {
 public:
  explicit SyntheticWriter(const SyntheticSpec& spec) : spec_(spec), head_dim_(spec.head_dim ? spec.head_dim : spec.width / spec.heads) {}

  Result<void> write(const std::string& path) {
    if (auto sound = check(); !sound) return sound;
    keys();
    vocabulary();
    tensors();
    if (error_) return *error_;
    return file_.write(path);
  }

 private:
  Result<void> check() const {
    const auto bad = [](const std::string& what) { return Error{"synthetic model: " + what, "", ErrorKind::usage}; };
    const std::string& a = spec_.architecture;
    if (a != "llama" && a != "qwen2" && a != "qwen3" && a != "gemma3") return bad("architecture '" + a + "' is not one of llama, qwen2, qwen3, gemma3");
    if (!spec_.layers || !spec_.width || !spec_.heads || !spec_.kv_heads || !spec_.feed_forward || head_dim_ % 2) return bad("dimensions must be positive, head_dim even");
    if (spec_.heads % spec_.kv_heads) return bad("heads is not a multiple of kv_heads");
    if (a == "qwen2" && head_dim_ * spec_.heads != spec_.width) return bad("qwen2 has no key for a head_dim other than width / heads");
    return {};
  }

  void keys() {
    const std::string a = spec_.architecture + ".";
    file_.set_string("general.architecture", spec_.architecture);
    file_.set_string("general.name", "Synthetic " + spec_.architecture + " " + std::to_string(spec_.seed));
    file_.set_u32(a + "block_count", spec_.layers), file_.set_u32(a + "context_length", spec_.context);
    file_.set_u32(a + "embedding_length", spec_.width), file_.set_u32(a + "feed_forward_length", spec_.feed_forward);
    file_.set_u32(a + "attention.head_count", spec_.heads), file_.set_u32(a + "attention.head_count_kv", spec_.kv_heads);
    file_.set_f32(a + "attention.layer_norm_rms_epsilon", 1e-6f), file_.set_f32(a + "rope.freq_base", spec_.rope_base);
    if (spec_.sliding_window) file_.set_u32(a + "attention.sliding_window", spec_.sliding_window);
    if (spec_.sliding_period) file_.set_u32(a + "attention.sliding_window_pattern", spec_.sliding_period);
    if (spec_.architecture == "llama") file_.set_u32(a + "rope.dimension_count", head_dim_);
    if (spec_.architecture == "qwen3" || spec_.architecture == "gemma3" || head_dim_ * spec_.heads != spec_.width)
      file_.set_u32(a + "attention.key_length", head_dim_), file_.set_u32(a + "attention.value_length", head_dim_);
  }

  void add_token(std::string text, TokenType type) { texts_.push_back(std::move(text)), types_.push_back(int32_t(type)); }

  void vocabulary() {
    for (int b = 0; b < 256; ++b) add_token(byte_level_text(std::string(1, char(b))), TokenType::normal);
    std::vector<std::string> merges(std::begin(kMerges), std::end(kMerges));
    for (const std::string& merge : merges) {
      const size_t space = merge.find(' ', 1);
      add_token(merge.substr(0, space) + merge.substr(space + 1), TokenType::normal);
    }
    const auto first_special = uint32_t(texts_.size());
    for (const char* text : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}) add_token(text, TokenType::control);
    for (uint32_t i = 0; i < spec_.padding_tokens; ++i) add_token("[PAD" + std::to_string(texts_.size()) + "]", TokenType::unused);
    if (spec_.architecture == "llama") file_.set_u32("llama.vocab_size", uint32_t(texts_.size()));
    file_.set_string("tokenizer.ggml.model", "gpt2"), file_.set_string("tokenizer.ggml.pre", "qwen2");
    file_.set_strings("tokenizer.ggml.tokens", texts_), file_.set_i32s("tokenizer.ggml.token_type", types_), file_.set_strings("tokenizer.ggml.merges", merges);
    file_.set_u32("tokenizer.ggml.bos_token_id", first_special), file_.set_u32("tokenizer.ggml.eos_token_id", first_special + 2);
    file_.set_u32("tokenizer.ggml.padding_token_id", first_special), file_.set_bool("tokenizer.ggml.add_bos_token", false);
    file_.set_string("tokenizer.chat_template", kChatMl);
  }

  QuantType type_of(const std::string& kind) const {
    const auto found = spec_.types.find(kind);
    return found == spec_.types.end() ? spec_.type : found->second;
  }

  // A matrix of rows × columns whose product with a vector of unit values has standard deviation `gain`.
  void matrix(const std::string& prefix, const std::string& kind, uint64_t columns, uint64_t rows, float gain) {
    const QuantType type = type_of(kind);
    if (!traits(type).runnable || columns % traits(type).block_elements) {
      error_ = Error{"synthetic model: " + kind + " has rows of " + std::to_string(columns) + " values, which " + std::string(traits(type).name) + " cannot hold",
                     "choose widths that are multiples of " + std::to_string(traits(type).block_elements), ErrorKind::usage};
      return;
    }
    file_.add_tensor(prefix + kind + ".weight", type, {columns, rows}, random_blocks(type, columns * rows, next_seed(), gain / std::sqrt(float(columns))));
  }

  // Norm weights near 1 and biases near 0, but not exactly: forgetting them must show.
  void vector(const std::string& name, uint64_t n, float middle, float spread) {
    std::vector<float> values(n);
    random_values(next_seed(), spread, values);
    for (float& v : values) v += middle;
    GgufWriter::Bytes bytes(n * sizeof(float));
    encode(QuantType::f32, values.data(), n, bytes.data());
    file_.add_tensor(name, QuantType::f32, {n}, std::move(bytes));
  }

  void tensors() {
    matrix("", "token_embd", spec_.width, texts_.size(), spec_.logit_spread);
    for (uint32_t layer = 0; layer < spec_.layers; ++layer) block("blk." + std::to_string(layer) + ".");
    vector("output_norm.weight", spec_.width, 1, 0.1f);
    if (!spec_.tied) matrix("", "output", spec_.width, texts_.size(), spec_.logit_spread);
  }

  // Gains above 1 on what a layer adds keep the answer from being a copy of the last token's embedding.
  void block(const std::string& p) {
    const uint64_t q = uint64_t(head_dim_) * spec_.heads, kv = uint64_t(head_dim_) * spec_.kv_heads;
    vector(p + "attn_norm.weight", spec_.width, 1, 0.1f);
    matrix(p, "attn_q", spec_.width, q, 1.4f), matrix(p, "attn_k", spec_.width, kv, 1.4f), matrix(p, "attn_v", spec_.width, kv, 1);
    if (spec_.architecture == "qwen2")
      vector(p + "attn_q.bias", q, 0, 0.5f), vector(p + "attn_k.bias", kv, 0, 0.5f), vector(p + "attn_v.bias", kv, 0, 0.2f);
    if (spec_.architecture == "qwen3" || spec_.architecture == "gemma3")
      vector(p + "attn_q_norm.weight", head_dim_, 1.4f, 0.1f), vector(p + "attn_k_norm.weight", head_dim_, 1.4f, 0.1f);
    matrix(p, "attn_output", q, spec_.width, 2);
    if (spec_.architecture == "gemma3") vector(p + "post_attention_norm.weight", spec_.width, 2, 0.1f), vector(p + "post_ffw_norm.weight", spec_.width, 2, 0.1f);
    vector(p + "ffn_norm.weight", spec_.width, 1, 0.1f);
    matrix(p, "ffn_gate", spec_.width, spec_.feed_forward, 1.5f), matrix(p, "ffn_up", spec_.width, spec_.feed_forward, 1);
    matrix(p, "ffn_down", spec_.feed_forward, spec_.width, 2);
  }

  uint64_t next_seed() { return spec_.seed * 0x9e3779b97f4a7c15u + ++tensor_ * 0xd1b54a32d192ed03u; }

  const SyntheticSpec& spec_;
  const uint32_t head_dim_;
  GgufWriter file_;
  std::vector<std::string> texts_;
  std::vector<int32_t> types_;
  uint64_t tensor_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<void> write_synthetic_model(const std::string& path, const SyntheticSpec& spec) { return SyntheticWriter(spec).write(path); }

}  // namespace outrider
