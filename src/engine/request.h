#pragma once
// What a caller asks for, and how it hears of the answer.
#include <cstdint>
#include <vector>

#include "base/token.h"
#include "sample/settings.h"

namespace outrider {

// Receives an answer's tokens in order and says when it ends. Implemented by upper floors (stop strings, streaming, an impatient user).
class StopRule {
 public:
  virtual ~StopRule() = default;
  // True when the answer ends with this token; later tokens of the same round are dropped.
  virtual bool push(TokenId token) = 0;
};

// What decides whether a drafted token stands. Equality: it is what the target would have chosen, so the text is that of plain
// decoding (sample/accept.h). Rejection: another text, of the same distribution (sample/reject.h), the same again in a run with the same
// drafts. Greedy answers are the same either way.
enum class AcceptRule { equality, rejection };

struct Request {
  std::vector<TokenId> prompt;  // at least one token
  std::vector<TokenId> prediction;  // what the answer will probably be, for drafting; may be empty
  SamplingSettings sampling;
  AcceptRule acceptance = AcceptRule::equality;
  int64_t max_tokens = -1;      // −1: until the end of the turn or of the context
  bool ignore_end = false;      // go on after an end token
  int max_draft = kNoLimit;     // drafted tokens a round; 0 turns drafting off for this request
  StopRule* stop = nullptr;     // may be null; must live until the request has finished

  bool by_rejection() const { return acceptance == AcceptRule::rejection && !sampling.greedy(); }

  static constexpr int kNoLimit = 1 << 20;
};

enum class Finish { running, stop, length, cancelled };
const char* finish_name(Finish finish);

}  // namespace outrider
