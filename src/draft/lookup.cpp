#include "draft/lookup.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace outrider {
namespace {

constexpr int kFrom[] = {1, 2, 3, 4, 6, 9, 16, 32};  // tokens of agreement from which a bucket begins
constexpr int kBuckets = int(std::size(kFrom));
constexpr int kDistinct = 8;         // continuations told apart
constexpr int kShortestEarlier = 3;  // tokens of agreement below which another answer says nothing

int bucket_of(int length) { return int(std::upper_bound(std::begin(kFrom), std::end(kFrom), length) - std::begin(kFrom)) - 1; }

// How the places behind the longest agreement speak for a continuation.
enum Support {
  kUnanimous,  // several, all of them
  kOnly,       // one, and no other continuation was seen at all
  kFirst,      // one, while others followed shorter agreements
  kMajority,   // at least half of several that differ
  kMinority,   // at least a quarter
  kFew,
  kShadowed,   // none: it followed a shorter agreement. Its class goes by the bucket of the longest
  kEarlier,    // the places are in answers to other requests
  kSupports,
};
static_assert(kBuckets * kSupports == kEvidence);

// Shares of right guesses by support and bucket, counted over answers, greedy and sampled, to prompts of ten kinds and smoothed.
constexpr float kPrior[kSupports][kBuckets] = {
    {0.68f, 0.78f, 0.82f, 0.90f, 0.95f, 0.96f, 0.97f, 0.99f},
    {0.37f, 0.57f, 0.70f, 0.82f, 0.84f, 0.90f, 0.96f, 0.985f},
    {0.30f, 0.41f, 0.58f, 0.70f, 0.78f, 0.90f, 0.93f, 0.98f},
    {0.17f, 0.18f, 0.22f, 0.30f, 0.35f, 0.40f, 0.45f, 0.50f},
    {0.10f, 0.14f, 0.14f, 0.16f, 0.18f, 0.20f, 0.20f, 0.20f},
    {0.07f, 0.07f, 0.07f, 0.07f, 0.07f, 0.07f, 0.07f, 0.07f},
    {0.06f, 0.05f, 0.04f, 0.03f, 0.02f, 0.01f, 0.01f, 0.003f},
    {0.05f, 0.08f, 0.15f, 0.30f, 0.35f, 0.50f, 0.70f, 0.85f},
};

// Keeps the most probable guesses, each token once, best first.
void insert(const Guess& guess, Guesses& out) {
  int at = 0;
  while (at < out.count && out.list[size_t(at)].prior >= guess.prior && out.list[size_t(at)].token != guess.token) ++at;
  if (at == kMostGuesses || (at < out.count && out.list[size_t(at)].prior >= guess.prior)) return;
  int end = at;  // of those that make room: up to a less probable guess of the same token, or one more than there were
  while (end < out.count && out.list[size_t(end)].token != guess.token) ++end;
  if (end == out.count) out.count = std::min(out.count + 1, kMostGuesses), end = out.count - 1;
  std::move_backward(out.list.begin() + at, out.list.begin() + end, out.list.begin() + end + 1);
  out.list[size_t(at)] = guess;
}

// What followed the places that agree with the tail, by token.
class Tally {
 public:
  void vote(int32_t token, int length) {
    const int bucket = bucket_of(length);
    ++votes_[size_t(bucket)];
    int at = 0;
    while (at < count_ && list_[size_t(at)].token != token) ++at;
    if (at == kDistinct) return;
    Candidate& c = list_[size_t(at)];
    if (at < count_ && bucket == c.bucket) ++c.votes;
    if (at < count_ && bucket <= c.bucket) return;
    if (at == count_) ++count_;
    else std::move(&c + 1, list_.data() + count_, &c);  // to the end: its latest place of this bucket comes after those of the others
    list_[size_t(count_ - 1)] = {token, bucket, 1};
  }

  // Of equal classes the most frequent comes first, then the latest. `earlier`: the places are in answers to other requests.
  void offer(bool earlier, Guesses& out) {
    for (int i = 1; i < count_; ++i)  // stable, and nothing is allocated
      for (int at = i; at > 0 && list_[size_t(at)].before(list_[size_t(at - 1)]); --at) std::swap(list_[size_t(at)], list_[size_t(at - 1)]);
    for (int i = 0; i < std::min(count_, kMostGuesses); ++i) {
      const Candidate& c = list_[size_t(i)];
      const Support support = earlier ? kEarlier : support_of(c);
      const int bucket = support == kShadowed ? list_[0].bucket : c.bucket;
      insert({c.token, support * kBuckets + bucket, kPrior[support][bucket]}, out);
    }
  }

 private:
  struct Candidate {
    int32_t token;
    int bucket;  // of the longest agreement it followed
    int votes;   // places in that bucket
    bool before(const Candidate& o) const { return bucket != o.bucket ? bucket > o.bucket : votes > o.votes; }
  };

  Support support_of(const Candidate& c) const {
    const int of = votes_[size_t(c.bucket)];
    if (c.bucket < list_[0].bucket) return kShadowed;
    if (c.votes < of) return 2 * c.votes >= of ? kMajority : 4 * c.votes >= of ? kMinority : kFew;
    return of > 1 ? kUnanimous : count_ == 1 ? kOnly : kFirst;
  }

  std::array<Candidate, kDistinct> list_;
  std::array<int, kBuckets> votes_{};  // places by bucket
  int count_ = 0;
};

class LookupReader final : public Reader {
 public:
  LookupReader(const SourceRequest& request, int shortest_match, SuffixIndex* earlier)
      : text_(std::max(request.context, int64_t(request.prompt.size()))), prompt_(int32_t(request.prompt.size())), shortest_match_(shortest_match), earlier_(earlier) {
    append(request.prompt);
  }
  ~LookupReader() override {
    if (!earlier_) return;
    for (int32_t place = prompt_; place < text_.size(); ++place)
      if (text_.holds(place)) earlier_->append(text_.at(place));
    earlier_->append(SuffixIndex::kNone);
  }

  void append(std::span<const int32_t> tokens) override {
    for (const int32_t token : tokens) text_.append(token);
  }

  void guess(std::span<const int32_t> drafted, Guesses& out) const override {
    Tail tail;
    for (size_t i = drafted.size(); i > 0 && !tail.full(); --i) tail.add_earlier(drafted[i - 1]);
    text_.extend(tail);
    Tally tally;
    vote_within(tail, int(drafted.size()), tally);
    SuffixIndex::Matches matches;
    for (const auto& m : text_.search(tail, drafted.empty() ? SuffixIndex::kNone : drafted[0], matches))
      if (m.length >= shortest_match_) tally.vote(m.next, m.length);
    tally.offer(false, out);
    if (!earlier_) return;
    Tally others;
    for (const auto& m : earlier_->search(tail, SuffixIndex::kNone, matches))
      if (m.length >= std::max(kShortestEarlier, shortest_match_)) others.vote(m.next, m.length);
    others.offer(true, out);
  }

 private:
  // Places inside the drafted path, which no index holds.
  void vote_within(const Tail& tail, int drafted, Tally& tally) const {
    for (int back = 1; back < std::min(drafted, tail.count); ++back) {
      int length = 0;
      while (length + back < tail.count && tail.tokens[size_t(length)] == tail.tokens[size_t(length + back)]) ++length;
      if (length >= shortest_match_) tally.vote(tail.tokens[size_t(back - 1)], length);
    }
  }

  SuffixIndex text_;
  int32_t prompt_;  // tokens
  int shortest_match_;
  SuffixIndex* earlier_;
};

}  // namespace

LookupSource::LookupSource(Options options) : shortest_match_(options.shortest_match) {
  if (options.remembered > 0) earlier_ = std::make_unique<SuffixIndex>(options.remembered);
}

Result<std::unique_ptr<Reader>> LookupSource::open(const SourceRequest& request) {
  return std::unique_ptr<Reader>(std::make_unique<LookupReader>(request, shortest_match_, earlier_.get()));
}

}  // namespace outrider
