#include "engine/controller.h"

#include <algorithm>
#include <cmath>

namespace outrider {

namespace {

constexpr double kAllowance = 0.01;  // of the time spent and expected: what drafting may be behind before it must be careful,
constexpr double kReserve = 0.022;   // and before it stops
constexpr double kInvestment = 0.10; // the same for reading text: read in part, it is guessed far worse
constexpr double kDrifted = 0.25;    // the machine has become that much slower or faster, or we are that wrong: measure again
constexpr double kBurst = 1.25;      // a step so much longer than expected was held up by something else
constexpr double kFade = 0.97;       // of the rate, a step
constexpr double kBelieved = 4;      // plain steps that the usual rate counts for at first
constexpr double kOneRun = 0.25;     // what a run changes of the usual rate
constexpr double kMostUsual = 8;

double step_ms(const StepRecord& r) { return r.draft_ms + r.verify_ms + r.sample_ms; }

}  // namespace

bool Controller::ready(int requests, int64_t context) const {
  return costs_.known(context) && (requests > 1 || (since_plain_ < kStale && std::abs(drift_) < kDrifted));
}

DraftBudget Controller::budget(int base_rows, int requests, int64_t context) const {
  const double plain = double(requests) / costs_.predict_ms(requests, context);
  return {.costs = &costs_, .base_rows = base_rows, .context = context, .tokens_per_ms = ms_ > 0 ? std::max(plain, tokens_ / ms_) : plain};
}

// Of the time spent on the request and still expected.
double Controller::share_ms(double share, const Ledger& ledger, double tokens_ahead) const {
  return share * (ledger.spent_ms + tokens_ahead * costs_.predict_ms(1, context_));
}

double Controller::spare_ms(const Ledger& ledger, double tokens_ahead) const {
  return ledger.balance_ms + ledger.invested_ms + share_ms(kAllowance, ledger, tokens_ahead);
}

double Controller::reserve_ms(const Ledger& ledger, double tokens_ahead) const {
  return ledger.balance_ms + ledger.invested_ms + share_ms(kReserve, ledger, tokens_ahead);
}

double Controller::invest_ms(const Ledger& ledger, double tokens_ahead) const {
  return ledger.balance_ms + share_ms(kInvestment, ledger, tokens_ahead);
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
  const bool plain = requests == 1 && r.rows == 1;
  costs_.learn(r.rows, context, ms);
  if (r.expected_ms > 0) drift_ = 0.6 * drift_ + 0.4 * std::log(std::clamp(step_ms(r) / r.expected_ms, 0.5, 2.0));
  if (plain) since_plain_ = 0, drift_ = 0;
  if (ms_ == 0 && plain) ms_ = kBelieved * ms, tokens_ = kBelieved * usual_;
  tokens_ = kFade * tokens_ + r.emitted, ms_ = kFade * ms_ + step_ms(r) - r.invested_ms;  // what was invested is not a round's price
}

void Controller::archive(Archive& archive) {
  costs_.archive(archive);
  const double plain_ms = costs_.predict_ms(1, context_);
  double usual = ms_ > 0 && plain_ms > 0 ? usual_ * std::pow(std::max(1.0, tokens_ / ms_ * plain_ms) / usual_, kOneRun) : usual_;
  archive.value(usual);
  if (!archive.reading()) return;
  usual_ = usual >= 1 && usual <= kMostUsual ? usual : 1;
  tokens_ = ms_ = 0, since_plain_ = kStale;
}

void Controller::book(Ledger& ledger, const StepRecord& r, int emitted, int requests, int64_t context) const {
  ledger.spent_ms += step_ms(r);
  if (r.prompt_rows > 0 || emitted == 0) return;  // a step shared with a prompt says nothing of drafting
  const double share = step_ms(r) / requests;
  if (r.rows <= requests && r.draft_ms < 0.01 * share) return;
  // A step that took much longer than expected, drafting and pass alike, would have been as slow without drafts. A little longer
  // counts in full: expectations are rather too low than too high.
  const double plain = emitted * costs_.predict_ms(requests, context) / requests;
  const double ratio = r.expected_ms > 0 ? step_ms(r) / r.expected_ms : 1, slow = ratio > kBurst ? std::min(ratio, 3.0) : 1;
  ledger.balance_ms += plain * slow - share;
}

}  // namespace outrider
