#include "sample/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/math.h"
#include "base/noise.h"

namespace outrider {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kLog2E = 0x1.71547652b82fep+0;

// Gumbel-max over offered tokens. Most cannot win, and are told from the leading bits of their noise without a logarithm:
// with d = best - score, a token wins only if -log(-log(u)) > d, that is u > exp(-exp(-d)) > 1 - exp(-d), so 1 - u < 2^(-d log2 e).
// 1 - u is at least 2^-(zeros + 1), zeros being the leading zero bits of ~bits; one more bit is left as a margin for rounding.
class Race {
 public:
  Race(const PositionNoise& noise, double temperature) : noise_(noise), inverse_temperature_(1 / temperature) {}

  void offer(double below_max, int32_t token) {  // below_max = logit - max <= 0, so that the product cannot overflow upwards
    const double score = below_max * inverse_temperature_, gap = best_ - score;
    if (gap > PositionNoise::kMaxGumbel) return;
    const uint64_t bits = noise_.bits(token);
    if (gap * kLog2E >= std::countl_zero(~bits) + 2) return;
    const double sum = score + PositionNoise::gumbel_of(bits);
    if (sum > best_ || (sum == best_ && token < winner_)) {
      best_ = sum;
      winner_ = token;
    }
  }

  // Every token of a row. The block with the maximum goes first: the others then need much of their noise.
  void offer_all(const ScannedRow& row, const kernels::Kernels& kernels) {
    const size_t blocks = blocks_in(int64_t(row.logits.size()));
    offer_block(row, size_t(std::find(row.maxima, row.maxima + blocks, row.max) - row.maxima), kernels);
    for (size_t b = 0; b < blocks; b++) offer_block(row, b, kernels);
  }

  int32_t winner() const { return winner_; }

 private:
  void offer_block(const ScannedRow& row, size_t block, const kernels::Kernels& kernels) {
    const double gap = best_ - (double(row.maxima[block]) - double(row.max)) * inverse_temperature_;  // of its most probable token
    if (!(gap <= PositionNoise::kMaxGumbel)) return;  // a block of -inf has an infinite gap
    const size_t first = block * kernels::kMaxBlock, count = std::min<size_t>(kernels::kMaxBlock, row.logits.size() - first);
    const int ones = gap > 2 ? int(gap * kLog2E) - 1 : 0;  // leading bits that must be set, as in offer()
    const uint64_t least = ones == 0 ? 0 : ~uint64_t(0) << (64 - ones);
    int32_t tokens[kernels::kMaxBlock];
    const int64_t found = kernels.loud(noise_, int32_t(first), int64_t(count), least, tokens);
    for (int64_t i = 0; i < found; i++) {
      const float logit = row.logits[size_t(tokens[i])];
      if (logit > -kInfinity) offer(double(logit) - double(row.max), tokens[i]);  // NaN fails the comparison
    }
  }

  PositionNoise noise_;
  double inverse_temperature_, best_ = -double(kInfinity);
  int32_t winner_ = -1;
};

}  // namespace

Sampler::Sampler(SamplingSettings settings, int32_t vocabulary_size, std::span<const int32_t> forbidden, const kernels::Kernels& kernels)
    : settings_(std::move(settings)), kernels_(kernels), vocabulary_size_(vocabulary_size), live_size_(vocabulary_size),
      lowest_allowed_(0), truncation_(settings_, vocabulary_size) {
  std::vector<bool> out(size_t(vocabulary_size), false);
  for (int32_t token : forbidden) {
    if (token >= 0 && token < vocabulary_size) out[size_t(token)] = true;
  }
  while (live_size_ > 1 && out[size_t(live_size_) - 1]) live_size_--;
  std::vector<float> bias(size_t(vocabulary_size), 0);
  for (const LogitBias& b : settings_.logit_bias) {
    OUTRIDER_CHECK(b.token >= 0 && b.token < vocabulary_size);
    bias[size_t(b.token)] += b.bias;
  }
  for (int32_t token = 0; token < live_size_; token++) {
    const float b = bias[size_t(token)];
    if (out[size_t(token)] || !(b > kBanBias)) banned_.push_back(token);
    else if (b != 0) biases_.push_back({token, b});
  }
  while (size_t(lowest_allowed_) < banned_.size() && banned_[size_t(lowest_allowed_)] == lowest_allowed_) lowest_allowed_++;
  if (lowest_allowed_ >= live_size_) lowest_allowed_ = 0;

  edited_.resize(size_t(live_size_));
  maxima_.resize(blocks_in(live_size_));
  if (settings_.has_penalties()) {
    occurrences_.assign(size_t(live_size_), 0);
    occurring_.reserve(size_t(live_size_));
  }
}

int Sampler::choose(std::span<const float> logits, int64_t position, std::span<const int32_t> history,
                    std::span<const int32_t> ancestors) {
  OUTRIDER_CHECK(logits.size() == size_t(vocabulary_size_));
  const std::span<const float> row = edited_row(logits.first(size_t(live_size_)), history, ancestors);
  const int token = settings_.greedy() ? choose_greedy(row) : choose_random(row, position);
  return token >= 0 ? token : lowest_allowed_;
}

// Steps 1 and 2. The row itself when there is nothing to do, so that plain greedy never copies.
std::span<const float> Sampler::edited_row(std::span<const float> logits, std::span<const int32_t> history,
                                           std::span<const int32_t> ancestors) {
  const bool penalties = settings_.has_penalties() && !(history.empty() && ancestors.empty());
  if (banned_.empty() && biases_.empty() && !penalties) return logits;
  std::copy(logits.begin(), logits.end(), edited_.begin());
  for (const LogitBias& b : biases_) edited_[size_t(b.token)] += b.bias;
  if (penalties) apply_penalties(history, ancestors);
  for (int32_t token : banned_) edited_[size_t(token)] = -kInfinity;
  return edited_;
}

void Sampler::apply_penalties(std::span<const int32_t> history, std::span<const int32_t> ancestors) {
  const size_t window = settings_.repeat_last_n < 0 ? history.size() + ancestors.size() : size_t(settings_.repeat_last_n);
  const size_t from_ancestors = std::min(window, ancestors.size());
  const auto count = [&](std::span<const int32_t> tokens) {
    for (int32_t token : tokens) {
      if (token < 0 || token >= live_size_) continue;
      if (occurrences_[size_t(token)]++ == 0) occurring_.push_back(token);
    }
  };
  count(history.last(std::min(window - from_ancestors, history.size())));
  count(ancestors.last(from_ancestors));

  for (int32_t token : occurring_) {
    float& x = edited_[size_t(token)];
    x = x > 0 ? x / settings_.repeat_penalty : x * settings_.repeat_penalty;
    x -= settings_.presence_penalty;
    x -= settings_.frequency_penalty * float(occurrences_[size_t(token)]);
    occurrences_[size_t(token)] = 0;
  }
  occurring_.clear();
}

size_t Sampler::most_bytes(int64_t vocabulary_size) {
  constexpr size_t kEach = sizeof(float) + 2 * sizeof(int32_t) + sizeof(Candidate);  // edited_, occurrences_, occurring_, candidates
  return size_t(vocabulary_size) * kEach + blocks_in(vocabulary_size) * sizeof(float);
}

// A broken row made usable: NaN becomes -inf, +inf the largest float. Only reached when a row shows that it needs it.
std::span<const float> Sampler::without_nan(std::span<const float> row) {
  for (size_t i = 0; i < row.size(); i++) {
    const float x = row[i];
    edited_[i] = x != x ? -kInfinity : std::min(x, std::numeric_limits<float>::max());
  }
  return edited_;
}

int Sampler::choose_greedy(std::span<const float> row) {
  const auto argmax = [&](std::span<const float> r) { return int(kernels_.argmax(r.data(), int64_t(r.size()))); };
  int best = argmax(row);
  if (best >= 0 && std::isfinite(row[size_t(best)])) return best;
  row = without_nan(row);
  best = argmax(row);
  return best >= 0 && row[size_t(best)] > -kInfinity ? best : -1;
}

// A row to draw from: its maximum is finite, or −inf when nothing is left.
ScannedRow Sampler::scan(std::span<const float> row) {
  const auto scanned = [&](std::span<const float> r) { return ScannedRow{r, maxima_.data(), kernels_.block_max(r.data(), int64_t(r.size()), maxima_.data())}; };
  const ScannedRow first = scanned(row);
  return std::isfinite(first.max) ? first : scanned(without_nan(row));
}

int Sampler::choose_random(std::span<const float> logits, int64_t position) {
  const ScannedRow row = scan(logits);
  if (row.max == -kInfinity) return -1;
  Race race(PositionNoise(settings_.seed, settings_.stream, position), double(settings_.temperature));
  if (truncation_.active()) {
    for (const Candidate& c : truncation_.keep(row, kernels_)) race.offer(double(c.logit) - double(row.max), c.token);
  } else {
    race.offer_all(row, kernels_);
  }
  return race.winner();
}

double log_probability(const kernels::Kernels& kernels, std::span<const float> logits, int32_t token) {
  OUTRIDER_CHECK(token >= 0 && size_t(token) < logits.size());
  const float max = kernels.row_max(logits.data(), int64_t(logits.size()));
  const double sum = double(kernels.sum_exp(logits.data(), int64_t(logits.size()), max));
  return std::min(double(logits[size_t(token)]) - double(max) - math::log(sum), 0.0);
}

float top_probability(const kernels::Kernels& kernels, std::span<const float> logits, int32_t token) {
  return float(math::exp(log_probability(kernels, logits, token)));
}

}  // namespace outrider
