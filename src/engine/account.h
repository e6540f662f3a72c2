#pragma once
// What happened, step by step. Every figure shown to a person can be recomputed from these records.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sample/accept.h"

namespace outrider {

// One step of the engine: one pass of the target over the rows of all running requests.
struct StepRecord {
  double start_ms = 0;  // on the engine's clock
  double draft_ms = 0, verify_ms = 0, sample_ms = 0, commit_ms = 0;
  int prompt_rows = 0;  // of prompts being read
  int rows = 0;         // of windows, the pending tokens included
  int drafted = 0, accepted = 0, rejected = 0, untested = 0;  // drafted = accepted + rejected + untested
  int cut = 0;          // chosen but not delivered: past the end of the answer, or its end token
  int emitted = 0;      // emitted = choices + accepted − cut
  int choices = 0;      // requests whose target chose a token in this step
  int decoding = 0;     // of them, those with a window
  int draft_passes = 0; // of a drafting model, reading not counted
  double invested_ms = 0;  // of draft_ms, what a drafting model spent on reading the text before its first answer
  double expected_ms = 0, expected_tokens = 0;  // of drafting and pass, and of those requests: what was known before it ran
};

// The same summed for one request. A round is a step in which the target chose a token for it, the last prompt row included:
// emitted = rounds + accepted − cut.
struct RequestAccount {
  int64_t prompt_tokens = 0, cached_tokens = 0;  // cached: not read again
  int64_t rounds = 0, drafted = 0, accepted = 0, rejected = 0, untested = 0, cut = 0, emitted = 0;
  std::array<int64_t, kMaxDraftRows> drafted_by_position{};   // position 0 = the first drafted token
  std::array<int64_t, kMaxDraftRows> accepted_by_position{};
  std::array<int64_t, 8> drafted_by_source{}, accepted_by_source{};  // in the order of Drafter::sources()
  int64_t alone_steps = 0;  // that decoded nothing but this request, without a draft: they tell what plain decoding costs
  double balance_ms = 0;    // of the ledger (controller.h): what plain decoding would have cost at its price then, less what drafting did
  double submitted_ms = 0, first_token_ms = 0, last_token_ms = 0, finished_ms = 0;
  int64_t first_batch_tokens = 0;  // tokens that left together with the first

  // What plain decoding would have taken for the tokens after the first, at its price at each moment, and that over the time they did
  // take; 0 where that price was not measured in this answer. (A mean of the answer's own plain steps would say more than is true: they
  // are its first and slowest.)
  double plain_ms() const { return alone_steps > 0 ? last_token_ms - first_token_ms + balance_ms : 0; }
  double speedup() const { return last_token_ms > first_token_ms ? std::max(0.0, plain_ms()) / (last_token_ms - first_token_ms) : 0; }

  // (N − n1) / (tN − t1): the rate after the first tokens, by the clock on the wall. 0 when nothing followed.
  double decode_tokens_per_s() const {
    const double ms = last_token_ms - first_token_ms;
    return emitted > first_batch_tokens && ms > 0 ? double(emitted - first_batch_tokens) / ms * 1e3 : 0;
  }
};

}  // namespace outrider
