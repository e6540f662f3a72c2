#include "engine/controller.h"

#include <algorithm>

namespace outrider {

namespace {

constexpr int kStale = 256;          // steps after which the price of plain decoding is measured again
constexpr double kAllowance = 0.012; // of the time spent and expected: what drafting may be behind
constexpr double kInvestment = 0.03; // the same for reading text
constexpr double kFade = 0.97;       // of the rate, a step

double step_ms(const StepRecord& r) { return r.draft_ms + r.verify_ms + r.sample_ms; }

}  // namespace

bool Controller::ready(int requests, int64_t context) const {
  return costs_.known(context) && (requests > 1 || since_plain_ < kStale);
}

DraftBudget Controller::budget(int base_rows, int requests, int64_t context) const {
  const double plain = double(requests) / costs_.predict_ms(requests, context);
  return {.costs = &costs_, .base_rows = base_rows, .context = context, .tokens_per_ms = ms_ > 0 ? std::max(plain, tokens_ / ms_) : plain};
}

double Controller::spare_ms(const Ledger& ledger, double tokens_ahead) const {
  return ledger.gained_ms + ledger.invested_ms + kAllowance * (ledger.spent_ms + tokens_ahead * costs_.predict_ms(1, context_));
}

double Controller::invest_ms(const Ledger& ledger, double tokens_ahead) const {
  return ledger.gained_ms + kInvestment * (ledger.spent_ms + tokens_ahead * costs_.predict_ms(1, context_));
}

void Controller::learn(const StepRecord& r, int requests, int64_t context) {
  context_ = context;
  ++since_plain_;
  const double ms = r.verify_ms + r.sample_ms;
  if (r.prompt_rows > 0) {
    costs_.learn(r.rows + r.prompt_rows, context, ms);
    return;
  }
  if (r.rows == 0) return;
  costs_.learn(r.rows, context, ms);
  if (requests == 1 && r.rows == 1) since_plain_ = 0;
  tokens_ = kFade * tokens_ + r.emitted, ms_ = kFade * ms_ + step_ms(r);
}

void Controller::book(Ledger& ledger, const StepRecord& r, int emitted, int requests, int64_t context) const {
  ledger.spent_ms += step_ms(r);
  if (r.prompt_rows > 0 || emitted == 0) return;  // a step shared with a prompt says nothing of drafting
  const bool drafted = r.rows > requests || r.expected_ms > 0;
  const double share = step_ms(r) / requests, plain = drafted ? emitted * costs_.predict_ms(requests, context) / requests : share;
  ledger.plain_ms += plain;
  ledger.gained_ms += plain - share;
}

}  // namespace outrider
