#pragma once
// A drafter proposes tokens that may follow; the target decides. All requests of a step come in one call, so that a drafting model
// makes one pass for all of them, and the rows of the step go where they are worth most.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "base/result.h"
#include "draft/step_costs.h"
#include "sample/accept.h"
#include "sample/distribution.h"
#include "sample/settings.h"
#include "sample/top.h"

namespace outrider {

// What a round proposes for one request: a tree under the pending token.
struct Draft {
  DraftTree tree{0};
  std::array<float, kMaxDraftRows> survival;  // probability that a row's token is right, given that its parent is
  std::array<float, kMaxDraftRows> reach;     // … and all above it: what the row adds to the tokens expected
  std::array<uint8_t, kMaxDraftRows> source;  // whose guess it was, an index into Drafter::sources()
  std::array<Distribution, kMaxDraftRows> drawn_from;  // what the token was drawn from, for acceptance by rejection; empty: a guess

  int size() const { return tree.size - 1; }
  float trust = 1;                            // in each survival: the best of many guesses are rather too hopeful than too modest

  float step(float p) const { return std::min(p * trust, 0.999f); }
  void reset(int32_t pending, float trusted = 1) { tree = DraftTree(pending), reach[0] = 1, source[0] = 0, trust = trusted; }
  int add(int32_t token, int parent, float p, int by) {
    const int row = tree.add(token, parent);
    survival[size_t(row)] = p, reach[size_t(row)] = step(p) * reach[size_t(parent)], source[size_t(row)] = uint8_t(by);
    drawn_from[size_t(row)] = {};
    return row;
  }
  void cut(int drafted) { tree.size = std::min(tree.size, drafted + 1); }  // rows stand in the order they were added
  int rows_of(int by) const { return int(std::count(source.begin() + 1, source.begin() + tree.size, uint8_t(by))); }
  // Takes out one's rows and all that hangs from them.
  void drop(int by) {
    std::array<int32_t, kMaxDraftRows> moved;  // by the old row: the new one, or −1
    moved[0] = 0;
    const int rows = std::exchange(tree.size, 1);
    for (int row = 1; row < rows; ++row) {
      const size_t from = size_t(row), to = size_t(tree.size);
      const int32_t parent = moved[size_t(tree.parents[from])];
      moved[from] = parent < 0 || source[from] == by ? -1 : int32_t(to);
      if (moved[from] < 0) continue;
      tree.add(tree.tokens[from], parent);
      survival[to] = survival[from], reach[to] = reach[from], source[to] = source[from], drawn_from[to] = drawn_from[from];
    }
  }
  double expected_tokens() const {
    double sum = 1;
    for (int row = 1; row < tree.size; ++row) sum += double(reach[size_t(row)]);
    return sum;
  }
};

// What a person allows of the drafts of all together. The controller stays within it.
struct DraftLimits {
  int max = kMaxDraftRows - 1;  // drafted tokens a round; 0 = none
  int min = 0;                  // shorter drafts are dropped
  float min_probability = 0;    // a model's own certainty below which its draft stops (softmax at temperature 1)
};

// What a person allows one of those who guess.
struct KindLimits {
  int max = kMaxDraftRows - 1;  // drafted tokens of its own a round; a model is also asked for no more places; 0 = none
  int min = 0;                  // fewer are dropped, with what hangs from them
  int width = 4;                // of its guesses at one place, the best so many; 1 = chains
};

// What the step's rows cost and what they may bring.
struct DraftBudget {
  const StepCosts* costs = nullptr;  // of the target; null: rows cost nothing, everything allowed is drafted
  int base_rows = 1;                 // rows the pass has anyway
  int64_t context = 0;               // tokens its rows look back on
  double tokens_per_ms = 0;          // the long-run rate: what a millisecond is worth

  bool free() const { return costs == nullptr; }
  double pass_ms(int drafted) const { return free() ? 0 : costs->predict_ms(base_rows + drafted, context); }
};

struct DraftJob {
  int64_t request;                   // between begin() and end()
  std::span<const int32_t> tokens;   // committed tokens of the target's timeline
  int32_t pending;                   // follows them: emitted, not yet committed
  int budget;                        // drafted tokens at most, also bounded by what the answer may still hold
  Draft* draft;                      // out: reset to the pending token before the call
  double spare_ms = 1e9;             // what rounds may still lose against plain decoding; below 0 drafts must promise more
  double reserve_ms = 1e9;           // the same to the very end: below 0 only what is free is drafted
  double invest_ms = 1e9;            // what may be spent once, on reading the text
  double tokens_ahead = 1e9;         // the answer's expected rest: what could pay for that
  double invested_ms = 0;            // out: what was spent on reading
};

struct DraftOutcome {
  int64_t request;
  std::span<const int32_t> tokens;       // committed before this round, as in the job
  const Draft* draft;
  const Acceptance* acceptance;
  std::span<const TopTokens> top;        // of every row of the draft's tree, where the drafter wants them
};

struct DraftRequest {
  std::span<const int32_t> prompt;
  std::span<const int32_t> prediction;   // what the caller expects the answer to be; may be empty
  const SamplingSettings& sampling;      // that its answer is sampled with
  bool by_rejection = false;             // drafts must be chains, and keep what their tokens were drawn from
};

// What a proposal took.
struct DraftEffort {
  double expected_ms = 0;  // as known before it was made
  int passes = 0;          // of a drafting model
};

class Drafter {
 public:
  virtual ~Drafter() = default;
  virtual std::string_view kind() const = 0;
  // Names of those who guess, for Draft::source.
  virtual std::vector<std::string> sources() const { return {std::string(kind())}; }
  // Whether it looks at the budget: then it is not asked before the price of plain decoding is known.
  virtual bool weighs_costs() const { return false; }
  // Whether outcomes should tell the target's most probable tokens.
  virtual bool wants_top() const { return false; }

  // A request comes and goes. An error means that it cannot be drafted for (memory).
  virtual Result<void> begin(int64_t request, const DraftRequest& about) = 0;
  virtual void end(int64_t request) = 0;

  virtual DraftEffort propose(std::span<DraftJob> jobs, const DraftBudget& budget) = 0;
  // What became of the last proposals. Called every round, before the target's timelines move on.
  virtual void observe(std::span<const DraftOutcome> outcomes) = 0;
  // What was learned of how often guesses are right and what they cost, for a later run: figures alone, no word of any text. As many
  // bytes every time. Unsound ones are not believed; they could cost time, nothing else.
  virtual void archive(Archive& archive) { (void)archive; }
};

}  // namespace outrider
