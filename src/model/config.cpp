#include "model/config.h"

#include <cmath>

#include "kernels/attention.h"

namespace outrider {

namespace {

class Reader {
 public:
  Reader(const GgufFile& file, std::string prefix) : file_(file), prefix_(std::move(prefix)) {}

  // An integer of [low, high]; `missing` < 0 makes the key required.
  int64_t integer(const std::string& key, int64_t low, int64_t high, int64_t missing = -1) {
    if (error_) return low;
    const std::string full = prefix_ + key;
    const auto value = missing >= 0 ? file_.integer_or(full, missing) : file_.integer(full);
    if (!value) return fail(value.error()), low;
    if (*value < low || *value > high)
      return fail({file_.path() + ": " + full + " is " + std::to_string(*value) + ", expected " + std::to_string(low) + " to " + std::to_string(high),
                   "the file is damaged or of an unknown variant"}),
             low;
    return *value;
  }
  float number(const std::string& key, float missing) {
    const auto value = file_.number_or(prefix_ + key, missing);
    if (!value) return fail(value.error()), missing;
    return *value;
  }
  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const GgufFile& file_;
  std::string prefix_;
  std::optional<Error> error_;
};

SamplingAdvice read_advice(const GgufFile& file) {
  const auto number = [&](const char* key) -> std::optional<float> {
    const auto value = file.number(std::string("general.sampling.") + key);
    return value ? std::optional<float>(*value) : std::nullopt;
  };
  SamplingAdvice advice{.temperature = number("temp"), .top_p = number("top_p"), .min_p = number("min_p"), .top_k = std::nullopt};
  if (const auto k = number("top_k")) advice.top_k = int(*k);
  return advice;
}

Error shape_error(const GgufFile& file, const std::string& what) {
  return Error{file.path() + ": " + what, "the file is damaged or of an unknown variant"};
}

// The key is a flag for every layer, or a period P: layer i slides unless i mod P = P − 1.
Result<std::vector<int>> read_horizons(const GgufFile& file, Reader& r, const Config& c, int missing_period) {
  const std::string key = "attention.sliding_window_pattern", full = c.architecture + "." + key;
  const int window = int(r.integer("attention.sliding_window", 0, 1 << 30, 0));
  std::vector<int> horizons(size_t(c.layers), 0);
  if (const KeyInfo* info = file.find_key(full); info && info->type == ValueType::array) {
    const auto slides = file.booleans(full);
    if (!slides) return slides.error();
    if (slides->size() != horizons.size()) return shape_error(file, full + " has " + std::to_string(slides->size()) + " entries for " + std::to_string(c.layers) + " layers");
    for (size_t i = 0; i < horizons.size(); ++i) horizons[i] = (*slides)[i] ? window : 0;
    return horizons;
  }
  const int64_t period = r.integer(key, 0, 1024, missing_period);
  for (size_t i = 0; period > 0 && i < horizons.size(); ++i) horizons[i] = int64_t(i) % period < period - 1 ? window : 0;
  return horizons;
}

}  // namespace

Result<Config> read_config(const GgufFile& file, bool interleaved_rope, int sliding_period) {
  const auto architecture = file.string("general.architecture");
  if (!architecture) return architecture.error();
  const auto name = file.string_or("general.name", "");
  Config c;
  c.architecture = *architecture;
  c.name = name ? std::string(*name) : "";
  Reader r(file, c.architecture + ".");
  c.layers = int(r.integer("block_count", 1, 1024));
  c.width = int(r.integer("embedding_length", 1, 1 << 20));
  c.feed_forward = int(r.integer("feed_forward_length", 1, 1 << 22));
  c.heads = int(r.integer("attention.head_count", 1, 4096));
  c.kv_heads = int(r.integer("attention.head_count_kv", 1, 4096, c.heads));
  c.head_dim = int(r.integer("attention.key_length", 1, kernels::kMaxHeadDim, c.heads ? c.width / c.heads : 0));
  const int value_dim = int(r.integer("attention.value_length", 1, kernels::kMaxHeadDim, c.head_dim));
  c.context_length = r.integer("context_length", 1, int64_t(1) << 30, 4096);
  auto horizons = read_horizons(file, r, c, sliding_period);
  c.rms_epsilon = r.number("attention.layer_norm_rms_epsilon", 1e-5f);
  const int rotary_dim = int(r.integer("rope.dimension_count", 2, kernels::kMaxHeadDim, c.head_dim));
  if (r.error()) return *r.error();
  if (!horizons) return horizons.error();
  c.horizons = std::move(*horizons);
  if (c.heads % c.kv_heads) return shape_error(file, "head_count " + std::to_string(c.heads) + " is no multiple of head_count_kv " + std::to_string(c.kv_heads));
  if (c.group() > kernels::kMaxQueries) return shape_error(file, std::to_string(c.group()) + " query heads share a kv head; at most " + std::to_string(kernels::kMaxQueries) + " can");
  if (c.head_dim % 16 || value_dim != c.head_dim) return shape_error(file, "heads of " + std::to_string(c.head_dim) + " and " + std::to_string(value_dim) + " dimensions; we need equal multiples of 16");
  if (c.width % 32 || c.feed_forward % 32 || c.query_width() % 32) return shape_error(file, "widths must be multiples of 32");
  if (rotary_dim > c.head_dim) return shape_error(file, "rope.dimension_count is larger than a head");
  const auto embedding = file.tensor("token_embd.weight");
  if (!embedding) return embedding.error();
  c.vocabulary = int64_t((*embedding)->rows());
  if (c.vocabulary < 1 || c.vocabulary > (1 << 24)) return shape_error(file, "token_embd.weight has " + std::to_string(c.vocabulary) + " rows");
  auto rope = read_rope(file, c.architecture, rotary_dim, interleaved_rope);
  if (!rope) return rope.error();
  c.rope = std::move(*rope);
  c.attention_scale = 1.0f / std::sqrt(float(c.head_dim));
  c.advice = read_advice(file);
  return c;
}

}  // namespace outrider
