#include "model/rope.h"

#include <algorithm>
#include <cmath>

#include "base/math.h"
#include "quant/decode.h"

namespace outrider {

void Rope::angles(int64_t position, float* cosines, float* sines) const {
  for (int i = 0; i < pairs; ++i) {
    const math::SinCos sc = math::sincos(double(position) * frequency[size_t(i)]);
    cosines[i] = float(sc.cos * magnitude), sines[i] = float(sc.sin * magnitude);
  }
}

namespace {

constexpr double kPi = 3.14159265358979323846;

// YaRN (Peng et al. 2023, arXiv:2309.00071): high frequencies are kept, low ones divided by the factor, with a ramp between.
void apply_yarn(Rope& rope, double base, double factor, double original_context, double attention_factor) {
  const int n = 2 * rope.pairs;
  const auto dimension = [&](double rotations) { return n * math::log(original_context / (2 * kPi * rotations)) / (2 * math::log(base)); };
  const double low = std::max(0.0, std::floor(dimension(32))), high = std::min(n - 1.0, std::ceil(dimension(1)));
  for (int i = 0; i < rope.pairs; ++i) {
    const double keep = 1 - std::clamp((i - low) / std::max(0.001, high - low), 0.0, 1.0);
    rope.frequency[size_t(i)] *= (1 - keep) / factor + keep;
  }
  rope.magnitude = attention_factor * (1 + 0.1 * math::log(factor));
}

Result<void> apply_divisors(const GgufFile& file, Rope& rope) {
  const TensorInfo* tensor = file.find_tensor("rope_freqs.weight");
  if (!tensor) return {};
  if (tensor->type != QuantType::f32 || tensor->elements() != uint64_t(rope.pairs))
    return Error{file.path() + ": rope_freqs.weight must hold " + std::to_string(rope.pairs) + " F32 values", "the file is damaged or of an unknown variant"};
  std::vector<float> divisor(static_cast<size_t>(rope.pairs));
  if (auto r = file.read(*tensor, 0, std::as_writable_bytes(std::span(divisor))); !r) return r;
  for (int i = 0; i < rope.pairs; ++i) rope.frequency[size_t(i)] /= divisor[size_t(i)];
  return {};
}

Result<void> apply_scaling(const GgufFile& file, const std::string& prefix, double base, Rope& rope) {
  const auto type = file.string_or(prefix + "scaling.type", "none");
  const auto factor = file.number_or(prefix + "scaling.factor", 1), attention = file.number_or(prefix + "scaling.attn_factor", 1);
  const auto original = file.uint_or(prefix + "scaling.original_context_length", 0);
  if (!type) return type.error();
  if (!factor) return factor.error();
  if (!attention) return attention.error();
  if (!original) return original.error();
  if (*type == "none" || *factor == 1.0f || *factor == 0.0f) return {};
  if (*type == "linear") {
    for (double& f : rope.frequency) f /= double(*factor);
    return {};
  }
  if (*type == "yarn" && *original > 0) {
    apply_yarn(rope, base, double(*factor), double(*original), double(*attention));
    return {};
  }
  return Error{file.path() + ": " + prefix + "scaling.type is «" + printable(*type) + "», which we cannot compute", "supported: none, linear, yarn"};
}

}  // namespace

Rope plain_rope(double base, int rotary_dim, bool interleaved) {
  Rope rope;
  rope.pairs = rotary_dim / 2, rope.interleaved = interleaved;
  for (int i = 0; i < rope.pairs; ++i) rope.frequency.push_back(math::pow(base, -2.0 * i / rotary_dim));
  return rope;
}

Result<Rope> read_rope(const GgufFile& file, const std::string& architecture, int rotary_dim, bool interleaved) {
  const std::string prefix = architecture + ".rope.";
  const auto base = file.number_or(prefix + "freq_base", 10000);
  if (!base) return base.error();
  if (!(*base > 1) || rotary_dim <= 0 || rotary_dim % 2) return Error{file.path() + ": rope base or dimension out of range", "the file is damaged"};
  Rope rope = plain_rope(double(*base), rotary_dim, interleaved);
  if (auto r = apply_divisors(file, rope); !r) return r.error();
  if (auto r = apply_scaling(file, prefix, double(*base), rope); !r) return r.error();
  return rope;
}

}  // namespace outrider
