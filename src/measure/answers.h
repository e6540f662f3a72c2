#pragma once
// Plain and drafted answers to the same prompt, one after the other in one process: models are loaded once, and what drafting learns goes
// from answer to answer as in daily use. Times are the engine's records; the texts must be equal.
#include <atomic>
#include <vector>

#include "engine/engine.h"

namespace outrider {

struct AnswerTimes {
  double tok_per_s = 0;  // of decoding, RequestAccount::decode_tokens_per_s; 0 when nothing followed the first token
  double decode_ms = 0;  // from the first token to the last
  double total_ms = 0;   // from the submission of the prompt
};

struct AnswerPair {
  AnswerTimes plain, drafted;
  int64_t tokens = 0;
  bool same = false;         // the tokens of both
  RequestAccount account;    // of the drafted answer
  // Of its rounds that were drafted for.
  double expected_tokens = 0, got_tokens = 0, expected_ms = 0, took_ms = 0;

  double ratio() const { return plain.tok_per_s > 0 ? drafted.tok_per_s / plain.tok_per_s : 0; }
  double ledger() const { return drafted.decode_ms > 0 ? account.balance_ms / drafted.decode_ms : 0; }  // share of the time it took
};

// Both answers to one request, in this or the other order. The engines share a model; `plain` has no drafter. Nothing else runs on them.
// Errors: those of Engine::submit, and «interrupted» once `stop` is set.
Result<AnswerPair> time_pair(Engine& plain, Engine& drafted, const Request& request, bool plain_first, const std::atomic<bool>& stop);

}  // namespace outrider
