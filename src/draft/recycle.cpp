#include "draft/recycle.h"

#include <algorithm>
#include <iterator>

namespace outrider {
namespace {

constexpr float kNewest = 0.5f;  // weight of the newest thought in a place; each older one has half of the next

// Evidence: the table; for the first guess its probability and how often it was confirmed, for the others rank and probability.
constexpr float kProbability[] = {0.03f, 0.1f, 0.2f, 0.4f, 0.7f, 0.95f, 0.99f};  // where the next bucket begins
constexpr int kBuckets = int(std::size(kProbability)) + 1, kOtherBuckets = 5, kTable = 32;
static_assert(2 * kBuckets + (kMostGuesses - 1) * kOtherBuckets <= kTable && 2 * kTable == kEvidence);

int class_of(int rank, float probability, int confirmed) {
  const int bucket = int(std::upper_bound(std::begin(kProbability), std::end(kProbability), probability) - std::begin(kProbability));
  if (rank > 0) return 2 * kBuckets + (rank - 1) * kOtherBuckets + std::min(bucket, kOtherBuckets - 1);
  if (confirmed == 0) return bucket;
  return kBuckets + (confirmed > 1 ? kBuckets / 2 : 0) + bucket / 2;
}

// Shares of right guesses by table (pairs, single tokens) and class, counted over answers, greedy and sampled, to prompts of ten kinds
// and smoothed.
constexpr float kPrior[2][kTable] = {
    {0.20f, 0.30f, 0.28f, 0.30f, 0.35f, 0.54f, 0.64f, 0.78f,   // first guess: seen once
     0.30f, 0.47f, 0.67f, 0.90f, 0.30f, 0.45f, 0.78f, 0.94f,   // confirmed once, more often
     0.03f, 0.05f, 0.13f, 0.18f, 0.19f,                        // second
     0.02f, 0.09f, 0.11f, 0.08f, 0.08f,                        // third
     0.02f, 0.05f, 0.06f, 0.06f, 0.06f, 0},                    // fourth
    {0.05f, 0.05f, 0.09f, 0.16f, 0.22f, 0.30f, 0.38f, 0.40f,
     0.10f, 0.17f, 0.38f, 0.60f, 0.10f, 0.20f, 0.36f, 0.78f,
     0.03f, 0.06f, 0.09f, 0.11f, 0.17f,
     0.03f, 0.04f, 0.06f, 0.09f, 0.09f,
     0.03f, 0.04f, 0.06f, 0.06f, 0.06f, 0},
};

// Neither is 0, which marks a free slot.
uint64_t key_of(int32_t token) { return uint64_t(token) + 1; }
uint64_t key_of(int32_t previous, int32_t token) { return uint64_t(previous + 2) << 32 | uint32_t(token); }

class RecycleReader final : public Reader {
 public:
  RecycleReader(const RecycleSource& source, std::span<const int32_t> prompt) : source_(source) { append(prompt); }

  void append(std::span<const int32_t> tokens) override { follow(tokens, previous_, token_); }
  void guess(std::span<const int32_t> drafted, Guesses& out) const override {
    int32_t previous = previous_, token = token_;
    follow(drafted, previous, token);
    if (token >= 0) source_.recall(previous, token, out);
  }

 private:
  static void follow(std::span<const int32_t> tokens, int32_t& previous, int32_t& token) {
    if (tokens.empty()) return;
    previous = tokens.size() > 1 ? tokens[tokens.size() - 2] : token;
    token = tokens.back();
  }

  const RecycleSource& source_;
  int32_t previous_ = -1, token_ = -1;  // the last two of the text
};

}  // namespace

void RecycleSource::Place::learn(const TopTokens& top) {
  constexpr size_t kAll = size_t(TopTokens::kCount + kMostGuesses);
  struct Thought { int32_t token; float probability; };
  std::array<Thought, kAll> all;
  size_t count = 0;
  for (size_t i = 0; i < size_t(TopTokens::kCount) && top.probability[i] > 0; ++i) all[count++] = {top.token[i], kNewest * top.probability[i]};
  if (count == 0) return;
  for (size_t i = 0; i < size_t(kMostGuesses) && probability[i] > 0; ++i) {
    const auto end = all.begin() + std::ptrdiff_t(count);
    const auto same = std::find_if(all.begin(), end, [&](const Thought& t) { return t.token == token[i]; });
    if (same == end) all[count++] = {token[i], (1 - kNewest) * probability[i]};
    else same->probability += (1 - kNewest) * probability[i];
  }
  std::sort(all.begin(), all.begin() + std::ptrdiff_t(count), [](const Thought& a, const Thought& b) { return a.probability > b.probability; });
  confirmed = top.token[0] == token[0] ? confirmed + 1 : 0;
  for (size_t i = 0; i < size_t(kMostGuesses); ++i) {
    token[i] = i < count ? all[i].token : 0;
    probability[i] = i < count ? all[i].probability : 0;
  }
}

void RecycleSource::Table::learn(uint64_t key, const TopTokens& top) {
  Place& place = places_[slot(key)];
  if (place.key == key) {
    place.learn(top);
    return;
  }
  place = Place();
  place.key = key;
  std::copy_n(top.token.begin(), place.token.size(), place.token.begin());
  std::copy_n(top.probability.begin(), place.probability.size(), place.probability.begin());
}

const RecycleSource::Place* RecycleSource::Table::find(uint64_t key) const {
  const Place& place = places_[slot(key)];
  return place.key == key ? &place : nullptr;
}

Result<std::unique_ptr<Reader>> RecycleSource::open(const SourceRequest& request) {
  return std::unique_ptr<Reader>(std::make_unique<RecycleReader>(*this, request.prompt));
}

void RecycleSource::learn(int32_t previous, int32_t token, const TopTokens& top) {
  pairs_.learn(key_of(previous, token), top);
  tokens_.learn(key_of(token), top);
}

void RecycleSource::recall(int32_t previous, int32_t token, Guesses& out) const {
  const Place* place = pairs_.find(key_of(previous, token));
  const int table = place ? 0 : 1;
  if (!place) place = tokens_.find(key_of(token));
  if (!place) return;
  for (int rank = 0; rank < kMostGuesses && place->probability[size_t(rank)] > 0; ++rank) {
    const int c = class_of(rank, place->probability[size_t(rank)], place->confirmed);
    out.add({place->token[size_t(rank)], table * kTable + c, kPrior[table][c]});
  }
}

}  // namespace outrider
