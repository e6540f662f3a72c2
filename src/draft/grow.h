#pragma once
// The shape of draft trees. Best-first: the guess most likely to be reached comes next, wherever it hangs; what follows it joins the
// candidates. For every number of rows n this gives the n rows with the largest sum of reach, that is of tokens expected.
//
// The number itself. A round is worth d(n) = E(n) − λ·V(n) more than an average stretch of time, λ being what a millisecond is worth.
// The likeliest guess that it leaves out, reached with probability r(n), is not lost: where all above it proves right, the next round
// begins with it, and is worth about as much again. So the n is the one that maximises  d(n) + r(n)·d(n) + … = d(n) ÷ (1 − r(n)),  over
// the whole staircase V: in a text that goes on as guessed these are the rows that cost least a token, not as many as pay. A guess that
// had to be paid for is lost when it is left out: there r(n) = 0.
#include <algorithm>
#include <vector>

#include "draft/drafter.h"
#include "draft/survival.h"

namespace outrider {

// What may follow a place, judged.
struct Choice {
  int32_t token;
  float survival;
  float confidence;  // the largest single confidence behind it
  float rival;       // the largest behind another choice here
  SourceSet sources;
  int8_t source;     // whose confidence that was
};
struct Choices {
  static constexpr int kMost = 8;
  std::array<Choice, kMost> list;  // most likely first
  int count = 0;
  int8_t mood = 0;  // by which the first was judged: an index into Manner::mood
  std::span<const Choice> all() const { return {list.data(), size_t(count)}; }
  double best() const { return count > 0 ? double(list[0].survival) : 0; }  // survival of the likeliest; 0 where nobody guesses
};

// Rows of a round that each of those who guess may have, by Draft::source.
struct Shares {
  std::array<int, kMostSources> most;
  Shares() { most.fill(kMaxDraftRows); }
};

// Whose row a choice becomes: of the surest who guessed it, or, when that one has all its rows, of another who did; −1: nobody has one left.
inline int owner(const Draft& draft, const Choice& c, const Shares& shares) {
  const auto has_room = [&](int by) { return draft.rows_of(by) < shares.most[size_t(by)]; };
  if (has_room(c.source)) return c.source;
  for (int by = 0; by < kMostSources; ++by)
    if ((c.sources >> by & 1) && has_room(by)) return by;
  return -1;
}

class TreeGrower {
 public:
  explicit TreeGrower(int requests) {
    heap_.reserve(size_t(requests) * kMaxDraftRows * Choices::kMost);
    added_.reserve(size_t(requests) * kMaxDraftRows);
  }

  struct Bounds {
    int width = 1;          // guesses that may share a parent
    double promise = 0.03;  // tokens a round that drafting must promise: below that the prices are not known well enough, and only
                            // plain steps teach them
    SourceSet paid = 0;     // whose guesses must be paid for again in the next round
    Shares shares{};
  };
  // Grows the drafts of the jobs, each to its budget at most. follow(job index, row) → Choices after that row.
  template <class Follow>
  void grow(std::span<DraftJob> jobs, const DraftBudget& budget, const Bounds& bounds, Follow&& follow) {
    const int width = bounds.width;
    heap_.clear(), added_.clear();
    int room = 0;
    for (size_t j = 0; j < jobs.size(); ++j) {
      room += most_rows(jobs[j]);
      if (most_rows(jobs[j]) > 0) push_all(jobs, int(j), 0, follow(int(j), 0), width);
    }
    const bool alone = jobs.size() == 1;  // several stand at places of different promise: what is left out of one says nothing of the others
    const auto left_out = [&] { return alone && !heap_.empty() && !(heap_.front().choice.sources & bounds.paid) ? std::min(kMostLeft, double(heap_.front().reach)) : 0; };
    double expected = 1, best = bounds.promise + again(1 - budget.tokens_per_ms * budget.pass_ms(0), left_out());
    size_t keep = 0;
    while (!heap_.empty() && again(hope(budget, room, expected), left_out()) > best) {
      std::pop_heap(heap_.begin(), heap_.end());
      const Node node = heap_.back();
      heap_.pop_back();
      DraftJob& job = jobs[size_t(node.job)];
      if (job.draft->size() >= most_rows(job)) continue;
      const int by = owner(*job.draft, node.choice, bounds.shares);
      if (by < 0) continue;
      const int row = job.draft->add(node.choice.token, node.parent, node.choice.survival, by);
      added_.push_back(node.job);
      expected += double(node.reach);
      push_all(jobs, node.job, row, follow(node.job, row), width);
      const double value = again(expected - budget.tokens_per_ms * budget.pass_ms(int(added_.size())), left_out());
      if (value > best) best = value, keep = added_.size();
    }
    if (budget.free()) keep = added_.size();
    for (size_t j = 0; j < jobs.size(); ++j) jobs[j].draft->cut(int(std::count(added_.begin(), added_.begin() + ptrdiff_t(keep), int(j))));
  }

 private:
  struct Node {
    float reach;
    int job, parent;
    Choice choice;
    bool operator<(const Node& o) const { return reach < o.reach; }
  };
  static constexpr double kMostLeft = 0.97;
  // A round of this worth, and again as often as what it left out comes true.
  static double again(double worth, double left_out) { return worth > 0 ? worth / (1 - left_out) : worth; }
  static int most_rows(const DraftJob& job) { return std::min(job.budget, kMaxDraftRows - 1); }
  void push_all(std::span<DraftJob> jobs, int job, int parent, const Choices& choices, int width) {
    const Draft& draft = *jobs[size_t(job)].draft;
    for (int i = 0; i < std::min(choices.count, width); ++i) {
      heap_.push_back({draft.reach[size_t(parent)] * draft.step(choices.list[size_t(i)].survival), job, parent, choices.list[size_t(i)]});
      std::push_heap(heap_.begin(), heap_.end());
    }
  }
  // The most that any larger tree could be worth: its further rows are reached no more often than the next one.
  double hope(const DraftBudget& budget, int room, double expected) const {
    if (budget.free()) return 1e300;
    double most = -1e300;
    const int size = int(added_.size());
    for (int n = size + 1; n <= room; ++n) most = std::max(most, expected + double(heap_.front().reach) * (n - size) - budget.tokens_per_ms * budget.pass_ms(n));
    return most;
  }

  std::vector<Node> heap_;
  std::vector<int> added_;  // jobs, in the order their rows came
};

}  // namespace outrider
