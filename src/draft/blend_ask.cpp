// When the drafting model is worth its passes. At a place that is reached with probability r, where the best guess so far is right with
// probability s, its answer is expected to bring  r · (S(s) − s) · (1 + W)  tokens: S is how likely the best guess was found to be once
// the model had been asked at such places, and W what a right token opens up, the same again one place further, and so on. It is
// asked while that is more than λ times its pass.
#include <algorithm>

#include "draft/blend.h"

namespace outrider {

namespace {

constexpr double kPriorWeight = 24;
constexpr double kSettles = 0.63;     // share of the doubt that an answer settles, before any was seen
constexpr double kTextFade = 0.1;     // of that, in one text
constexpr double kMargin = 1.1, kCareful = 1.5;  // what an answer must bring for its cost: usually, and in the red
constexpr int kMostWait = 4;          // rounds before the text is read, at most,
constexpr double kWaitFor = 2.5;      // one for so many plain steps that reading it costs
constexpr double kReadMargin = 2;     // what reading must bring for its cost: it cannot be undone, while waiting tells more
constexpr double kNextRounds = 2;     // what was missed of a text that it knows is read when the next rounds pay for it
constexpr double kLateShare = 0.4;    // of the tokens that a pass catches up on, what it is charged: they would cost the same later
constexpr double kLeastDoubt = 0.4, kMostDoubt = 1.5;
constexpr int kLookAhead = 4;         // rows over which the price of one is taken
constexpr double kMostAhead = 2.5;    // tokens that a right one opens up, at most: rows soon cost more

int bucket(double s, int buckets) { return std::clamp(int(s * buckets), 0, buckets - 1); }

}  // namespace

// Tokens of text to read now, or −1: not at this price. It is read when the rest of the answer is expected to pay for it and the loss
// could be borne if it does not. What is dear to read waits for a few rounds, which show how well the text is guessed without it.
int64_t Blend::worth_reading(const Line& line, const DraftJob& job, const DraftBudget& budget) const {
  if (!line.with_model || job.budget <= 0) return -1;
  const int64_t length = int64_t(job.tokens.size()), unread = model_->unread(job.request, length);
  if (budget.free()) return unread;
  if (job.reserve_ms <= 0) return -1;
  if (unread == 0) return 0;
  const int64_t part = model_->affordable(job.request, length, job.invest_ms, budget.costs);
  const double ms = model_->read_ms(part, length, budget.costs);
  if (!line.prelude.over && line.prelude.rounds < std::min(kMostWait, int(ms / budget.pass_ms(0) / kWaitFor))) return -1;
  const double rest = double(line.manner.gain) * job.tokens_ahead, brings = line.prelude.over ? std::max(rest, kNextRounds * line.prelude.hope) : rest / kReadMargin;
  return part > 0 && brings > budget.tokens_per_ms * ms ? part : -1;
}

// What the model's answer at a place is expected to take.
double Blend::ask_ms(const DraftJob& job, int place, const DraftBudget& budget) const {
  return model_->ask_ms(job.request, int64_t(job.tokens.size()), place, budget.costs);
}

// W: with survival S after each answer, a geometric series of S less what a place costs.
double Blend::opens_up(const Line& line, double place_cost) const {
  return std::clamp((line.manner.after - place_cost) / (1.02 - line.manner.after), 0.0, kMostAhead);
}

Blend::Prospect Blend::prospect(const Line& line, const DraftJob& job, const DraftBudget& budget) const {
  const int place = line.asked.count;
  const double s = line.unasked;
  const Answered& seen = answered_[size_t(bucket(s, kBefore))];
  const double usually = (seen.sum + kPriorWeight * (s + kSettles * (1 - s))) / (seen.seen + kPriorWeight);
  const double doubt = (1 - double(line.manner.after)) / std::max(0.05, 1 - double(usual_of(line).after));  // of this text, against the usual one
  const double after = 1 - std::min(1 - s, (1 - usually) * std::clamp(doubt, kLeastDoubt, kMostDoubt));
  const double alone_ms = ask_ms(job, 1, budget), late_ms = ask_ms(job, place, budget) - alone_ms;
  const double cost = budget.tokens_per_ms * (alone_ms + kLateShare * late_ms);
  const double row_cost = budget.tokens_per_ms * (budget.pass_ms(place + kLookAhead) - budget.pass_ms(place)) / kLookAhead;
  return {line.reach * (after - s) * (1 + opens_up(line, cost + row_cost)), cost};
}

// Whether the next answer is worth its pass, and the round would not stake more than may be lost: a first round that takes all leaves
// nothing to win it back with.
bool Blend::worth_asking(const Line& line, const DraftJob& job, const DraftBudget& budget) const {
  const int place = line.asked.count;
  if (place >= std::min(job.budget, model_limits().max) || (place > 0 && !model_->room(job.request, line.asked.drafted[size_t(place - 1)]))) return false;
  if (budget.free()) return true;
  if (line.asked_ms + ask_ms(job, place, budget) + budget.pass_ms(place + 1) - budget.pass_ms(0) > job.reserve_ms) return false;
  const Prospect p = prospect(line, job, budget);
  return p.brings > p.costs * (job.spare_ms > 0 ? kMargin : kCareful);
}

// The path goes on with the likeliest choice, whoever made it; in a chain with what the model drew.
void Blend::take_answer(Line& line, const DraftJob& job, const DraftBudget& budget) {
  const int place = line.asked.count++;
  line.asked_ever = true;
  const auto path = line.asked.path(place);
  const Choices after = judge(line, path, &line.asked.guesses[size_t(place)]);
  const double s = line.unasked, t = after.best();
  Answered& seen = answered_[size_t(bucket(s, kBefore))];
  seen.sum = seen.sum * kAnsweredFade + t, seen.seen = seen.seen * kAnsweredFade + 1;
  line.manner.after += kTextFade * (t - line.manner.after);
  line.gain += line.reach * t - line.unasked_reach * s;
  if (!budget.free()) {
    const double ms = ask_ms(job, place, budget);
    line.asked_ms += ms, line.gain -= budget.tokens_per_ms * ms;
  }
  line.reach *= t * double(line.manner.trust), line.unasked_reach *= s * double(line.manner.trust);
  line.asking = after.count > 0 && line.asked.guesses[size_t(place)].count > 0 && place + 1 < kMaxDraftRows;
  if (!line.asking) return;
  line.asked.drafted[size_t(place)] = line.chain ? line.asked.guesses[size_t(place)].list[0].token : after.list[0].token;
  line.unasked = judge(line, line.asked.path(place + 1), nullptr).best();
}

DraftEffort Blend::write(std::span<DraftJob> jobs, const DraftBudget& budget) {
  DraftEffort effort;
  for (DraftJob& job : jobs) {
    Line& line = lines_.at(job.request);
    line.unasked = judge(line, {}, nullptr).best();
    if (line.with_model && job.budget > 0 && !budget.free()) {
      const Prospect p = prospect(line, job, budget);
      line.prelude.hope = std::max(0.0, p.brings - p.costs);
    }
    const int64_t text = worth_reading(line, job, budget);
    line.asking = text >= 0 && worth_asking(line, job, budget);
    if (!line.asking) continue;
    effort.expected_ms += model_->read_ms(text, int64_t(job.tokens.size()), budget.costs);
    const double start_ms = clock_.now_ms();
    line.asking = model_->start(job.request, job.tokens, job.pending, text, budget.costs);
    if (!line.prelude.over) job.invested_ms = clock_.now_ms() - start_ms;
    else if (!budget.free()) line.gain -= budget.tokens_per_ms * model_->read_ms(text, int64_t(job.tokens.size()), budget.costs);
    line.prelude.over |= line.asking;
  }
  while (true) {
    asks_.clear(), asking_.clear();
    double most_ms = 0;
    for (size_t j = 0; j < jobs.size(); ++j) {
      Line& line = lines_.at(jobs[j].request);
      if (!line.asking || !(line.asking = worth_asking(line, jobs[j], budget))) continue;
      const int place = line.asked.count;
      asks_.push_back({jobs[j].request, jobs[j].tokens, jobs[j].pending, line.asked.path(place), &line.asked.guesses[size_t(place)]});
      asking_.push_back(j);
      most_ms = std::max(most_ms, ask_ms(jobs[j], place, budget));
    }
    if (asks_.empty()) return effort;
    effort.expected_ms += most_ms, effort.passes += 1;
    model_->ask(asks_);
    for (const size_t j : asking_) take_answer(lines_.at(jobs[j].request), jobs[j], budget);
  }
}

}  // namespace outrider
