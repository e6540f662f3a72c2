#include "draft/prediction.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "draft/suffix_index.h"

namespace outrider {
namespace {

constexpr int kBack = 32, kAhead = 96;  // places around the last agreement that are looked at before all others
constexpr int kSure = 2;                // tokens in a row that put it back in step there
constexpr int kFar = 4;                 // the same anywhere else

// Evidence in step: how long, and how well the prediction has foretold lately; else the way on, and for how long it is lost. Priors are
// shares of right guesses, counted over files printed again with a change and smoothed.
constexpr int kAgreed[] = {1, 2, 3, 5, 9, 17, 33};  // tokens from which a bucket begins
constexpr float kRate[] = {0.3f, 0.6f, 0.85f};
constexpr float kInStep[std::size(kAgreed)][std::size(kRate) + 1] = {
    {0.65f, 0.75f, 0.90f, 0.95f}, {0.70f, 0.80f, 0.92f, 0.96f}, {0.70f, 0.78f, 0.93f, 0.97f}, {0.80f, 0.85f, 0.96f, 0.99f},
    {0.85f, 0.88f, 0.95f, 0.99f}, {0.90f, 0.90f, 0.93f, 0.98f}, {0.95f, 0.95f, 0.97f, 0.99f}};
enum Way { kStart, kLikeHere, kReplaced, kInserted, kWays };
constexpr int kLost[] = {1, 2, 3, 5};  // tokens from which a bucket begins
constexpr float kLostPrior[kWays][std::size(kLost)] = {
    {0.50f}, {0.20f, 0.20f, 0.30f, 0.40f}, {0.22f, 0.25f, 0.12f}, {0.05f, 0.10f}};  // 0: not tried
constexpr int kLostClasses = int(std::size(kInStep) * std::size(kInStep[0]));
static_assert(kLostClasses + kWays * int(std::size(kLost)) <= kEvidence);

template <class Bounds, class Value>
int bucket_of(const Bounds& from, Value value) {
  return int(std::upper_bound(std::begin(from), std::end(from), value) - std::begin(from));
}

// What the alignment knows after some token.
struct State {
  int32_t next = 0;  // in step: the token to come; else where the last agreement ended
  int agreed = 0;     // tokens in a row; 0: not in step
  int lost = 0;       // tokens since the last agreement
  float rate = 0.7f;  // decayed share of tokens that were foretold
  std::array<int32_t, 8> recent{-1, -1, -1, -1, -1, -1, -1, -1};  // the last tokens, latest first
};

// A place in the prediction that the text may have come to: `next` follows it, `length` tokens before it agree.
struct Place {
  int32_t next;
  int length;
  int distance;  // from where it would be if the tokens since the last agreement stood in place of as many others
  bool before(const Place& o) const { return length != o.length ? length > o.length : distance < o.distance; }
};

class PredictionReader final : public Reader {
 public:
  explicit PredictionReader(std::span<const int32_t> prediction)
      : prediction_(prediction.begin(), prediction.end()), index_(int64_t(prediction.size())) {
    for (const int32_t token : prediction) index_.append(token);
  }

  void append(std::span<const int32_t> tokens) override {
    for (const int32_t token : tokens) {
      advance(state_, token);
      if (state_.agreed == 0) search_everywhere(state_);
    }
  }

  void guess(std::span<const int32_t> drafted, Guesses& out) const override {
    State s = state_;
    for (const int32_t token : drafted) advance(s, token);
    if (s.agreed > 0) offer_next(s, out);
    else offer_ways_on(s, out);
  }

 private:
  int32_t size() const { return int32_t(prediction_.size()); }
  bool foretold(const State& s, int32_t token) const { return s.next < size() && prediction_[size_t(s.next)] == token; }

  void advance(State& s, int32_t token) const {
    std::copy_backward(s.recent.begin(), s.recent.end() - 1, s.recent.end());
    s.recent[0] = token;
    const bool right = s.agreed > 0 && foretold(s, token);
    s.rate += (float(right) - s.rate) / 16;
    if (right) {
      ++s.next, ++s.agreed;
      return;
    }
    s.agreed = 0, ++s.lost;
    const Place best = near(s);
    const bool likely = best.distance == 0 || best.next == s.next + 1;  // where replacing or inserting tokens would have led
    if (best.length >= kSure || (best.length > 0 && likely)) step_in(s, best.next, best.length);
  }

  static void step_in(State& s, int32_t next, int agreed) { s.next = next, s.agreed = agreed, s.lost = 0; }

  int agreement(const State& s, int32_t next) const {
    int length = 0;
    while (length < int(s.recent.size()) && length < next && prediction_[size_t(next - 1 - length)] == s.recent[size_t(length)]) ++length;
    return length;
  }

  // The best place near the last agreement; length 0 when there is none.
  Place near(const State& s) const {
    Place best{0, 0, 0};
    const int32_t end = std::min(size(), s.next + std::min(s.lost, kAhead) + kAhead);
    for (int32_t next = std::max(1, s.next - kBack); next <= end; ++next) {
      if (prediction_[size_t(next - 1)] != s.recent[0]) continue;
      const Place place{next, agreement(s, next), std::abs(next - s.next - s.lost)};
      if (place.before(best)) best = place;
    }
    return best;
  }

  void search_everywhere(State& s) const {
    Tail tail;
    for (const int32_t token : s.recent)
      if (token >= 0) tail.add_earlier(token);
    SuffixIndex::Matches matches;
    Place best{0, kFar - 1, 0};
    for (const auto& m : index_.search(tail, SuffixIndex::kNone, matches)) {
      const Place place{m.place + 1, m.length, std::abs(m.place + 1 - s.next - s.lost)};
      if (place.before(best)) best = place;
    }
    if (best.length >= kFar) step_in(s, best.next, best.length);
  }

  void offer(int32_t next, int evidence, float prior, Guesses& out) const {
    if (next >= size() || prior == 0) return;
    const int32_t token = prediction_[size_t(next)];
    for (const Guess& g : out.all())
      if (g.token == token) return;
    out.add({token, evidence, prior});
  }

  void offer_next(const State& s, Guesses& out) const {
    const int agreed = bucket_of(kAgreed, s.agreed) - 1, rate = bucket_of(kRate, s.rate);
    offer(s.next, agreed * int(std::size(kInStep[0])) + rate, kInStep[agreed][rate], out);
  }

  void offer_ways_on(const State& s, Guesses& out) const {
    const int lost = std::max(bucket_of(kLost, s.lost) - 1, 0);
    const auto offer_way = [&](Way way, int32_t next) { offer(next, kLostClasses + way * int(std::size(kLost)) + lost, kLostPrior[way][lost], out); };
    if (s.lost == 0) return offer_way(kStart, s.next);
    if (const Place best = near(s); best.length > 0) offer_way(kLikeHere, best.next);
    offer_way(kReplaced, s.next + s.lost);
    offer_way(kInserted, s.next);
  }

  std::vector<int32_t> prediction_;
  SuffixIndex index_;
  State state_;
};

}  // namespace

Result<std::unique_ptr<Reader>> PredictionSource::open(const SourceRequest& request) {
  if (request.prediction.empty()) return Error{"no prediction was given", ""};
  const size_t length = std::min(request.prediction.size(), size_t(request.context));  // no answer is longer
  return std::unique_ptr<Reader>(std::make_unique<PredictionReader>(request.prediction.first(length)));
}

}  // namespace outrider
