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

struct Request {
  std::vector<TokenId> prompt;  // at least one token
  std::vector<TokenId> prediction;  // what the answer will probably be, for drafting; may be empty
  SamplingSettings sampling;
  int64_t max_tokens = -1;      // −1: until the end of the turn or of the context
  bool ignore_end = false;      // go on after an end token
  int max_draft = kNoLimit;     // drafted tokens a round; 0 turns drafting off for this request
  StopRule* stop = nullptr;     // may be null; must live until the request has finished

  static constexpr int kNoLimit = 1 << 20;
};

enum class Finish { running, stop, length, cancelled };
const char* finish_name(Finish finish);

}  // namespace outrider
