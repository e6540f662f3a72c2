#pragma once
// What drafting may cost. It knows the price of the target's passes, live, and the long-run rate λ of tokens a millisecond: the rows of
// a step are those that maximise E − λ·C (Wald's optimal rate, not E ÷ C round by round). And it keeps, for every request, a ledger
// against plain decoding: in the red, nothing that costs time is drafted. So the loss is bounded, whatever the drafter is.
#include <cstdint>

#include "draft/drafter.h"
#include "engine/account.h"

namespace outrider {

// One request against plain decoding, on the wall clock.
struct Ledger {
  double spent_ms = 0;  // since the request was admitted
  double balance_ms = 0; // what plain decoding of its tokens would have cost, less what the rounds did; what the machine itself lost
                         // on the way is not drafting's fault
  double invested_ms = 0;  // of that loss, what was spent once on reading text
};

class Controller {
 public:
  // Whether the price of plain decoding at this context is known and fresh; if not, the step should draft nothing.
  bool ready(int requests, int64_t context) const;
  DraftBudget budget(int base_rows, int requests, int64_t context) const;
  // What drafting for this request may still lose, when about `tokens_ahead` tokens are to come.
  double spare_ms(const Ledger& ledger, double tokens_ahead) const;
  // The same to the very end. A good drafter's luck goes up and down by a token or two a round, so there is some room to recover.
  double reserve_ms(const Ledger& ledger, double tokens_ahead) const;
  // What may be spent once on reading its text: more, since it is lost once and gains as long as the answer goes on.
  double invest_ms(const Ledger& ledger, double tokens_ahead) const;
  double pass_ms(int rows, int64_t context) const { return costs_.predict_ms(rows, context); }

  // The step's record, its context and the requests that chose tokens in it. Steps that read prompts teach the price of many rows.
  void learn(const StepRecord& record, int requests, int64_t context);
  // Books the step for one of its requests.
  void book(Ledger& ledger, const StepRecord& record, int emitted, int requests, int64_t context) const;
  // The prices, between runs. That of plain decoding is measured anew before anything is drafted.
  void archive(Archive& archive);

 private:
  static constexpr int kStale = 64;  // steps after which the price of plain decoding is measured again
  double share_ms(double share, const Ledger& ledger, double tokens_ahead) const;

  StepCosts costs_;
  double tokens_ = 0, ms_ = 0;  // decayed: the rate
  double usual_ = 1;            // of earlier runs, against plain decoding: what is believed of it at first
  int since_plain_ = 0;         // steps
  double drift_ = 0;            // log of actual over expected time of the drafted steps since, lately
  int64_t context_ = 0;         // of the last step
};

}  // namespace outrider
