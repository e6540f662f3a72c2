#pragma once
// A drafter proposes tokens that may follow; the target decides. All requests of a step come in one call, so that a drafting model
// makes one pass for all of them.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "sample/accept.h"
#include "sample/settings.h"

namespace outrider {

// What a round proposes for one request: a tree under the pending token.
struct Draft {
  DraftTree tree{0};
  std::array<float, kMaxDraftRows> probability;  // the drafter's own estimate that a row's token is right given its parent
  std::string_view source;                       // kind of the drafter that filled it

  int size() const { return tree.size - 1; }
  void reset(int32_t pending) { tree = DraftTree(pending), source = {}; }
  int add(int32_t token, int parent, float p) {
    const int row = tree.add(token, parent);
    probability[size_t(row)] = p;
    return row;
  }
};

struct DraftLimits {
  int max = 4;              // drafted tokens a round; 0 = none
  int min = 0;              // shorter drafts are dropped
  float min_probability = 0.6f;  // a model's own certainty below which it stops (softmax at temperature 1)
  bool paced = true;             // pause while drafting does not pay (pace.h); off where every draft is wanted, as in checks
};

struct DraftJob {
  int64_t request;                   // between begin() and end()
  std::span<const int32_t> tokens;   // committed tokens of the target's timeline
  int32_t pending;                   // follows them: emitted, not yet committed
  int budget;                        // drafted tokens at most, also bounded by what the answer may still hold
  Draft* draft;                      // out: reset to the pending token before the call
};

struct DraftOutcome {
  int64_t request;
  const Draft* draft;
  const Acceptance* acceptance;
  double gained = 0;  // tokens emitted less those of plain decoding in the same time; 0 when it is not known
};

class Drafter {
 public:
  virtual ~Drafter() = default;
  virtual std::string_view kind() const = 0;

  // A request comes and goes. `prompt` is its whole prompt, `sampling` the settings that its answer is sampled with.
  // An error means that the request cannot be drafted for (memory).
  virtual Result<void> begin(int64_t request, std::span<const int32_t> prompt, const SamplingSettings& sampling) = 0;
  virtual void end(int64_t request) = 0;

  virtual void propose(std::span<DraftJob> jobs) = 0;
  // What became of the last proposals, of whichever drafter. Called before the target's timelines move on.
  virtual void observe(std::span<const DraftOutcome> outcomes) = 0;
};

}  // namespace outrider
