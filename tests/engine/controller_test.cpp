// The controller against made-up machines and drafters: what a drafter can cost is bounded, what it can bring is found.
#include "engine/controller.h"

#include <gtest/gtest.h>

#include "draft/grow.h"
#include "draft/survival.h"

namespace outrider {
namespace {

// A source that claims `claim` and is right with `truth`; drafting costs `ask_ms` a token on top.
struct World {
  double truth, claim;
  double one_ms = 20, row_ms = 0.6;
  uint64_t state = 1;
  Controller controller;
  Ledger ledger;
  Survival survival;
  Mood mood;
  double time_ms = 0;
  int64_t tokens = 0;

  double random() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return double(state >> 11) * 0x1p-53;
  }
  double pass_ms(int n) const { return one_ms + row_ms * (n - 1) + (n > 8 ? 10 : 0); }

  void round() {
    Draft draft;
    draft.reset(1);
    StepRecord record;
    record.decoding = 1;
    DraftJob job{.request = 1, .tokens = {}, .pending = 1, .budget = 31, .draft = &draft, .reserve_ms = controller.reserve_ms(ledger, 128)};
    if (controller.ready(1, 0) && job.reserve_ms > 0) {
      const auto budget = controller.budget(1, 1, 0);
      TreeGrower(1).grow(std::span(&job, 1), budget, {.width = 1}, [&](int, int row) {
        Choices c;
        const float confidence = mood.shifted(survival.single(0, {row, 0, float(claim)}));
        c.list[0] = {row, confidence, confidence, 0, 1, 0}, c.count = 1;
        return c;
      });
    }
    int accepted = 0;
    bool wrong = false;
    for (int i = 0; i < draft.size() + 1; ++i) {  // in shadow too
      const bool right = random() < truth;
      if (!wrong) mood.learn(mood.shifted(survival.single(0, {0, 0, float(claim)})), right), survival.count_single(0, 0, right);
      wrong |= !right;
      accepted += !wrong && i < draft.size();
    }
    record.rows = 1 + draft.size(), record.emitted = 1 + accepted;
    record.verify_ms = pass_ms(record.rows) * (0.97 + 0.06 * random());
    record.expected_ms = controller.pass_ms(record.rows, 0);
    controller.book(ledger, record, record.emitted, 1, 0);
    controller.learn(record, 1, 0);
    time_ms += record.verify_ms, tokens += record.emitted;
  }
  double speed_up() const { return double(tokens) * one_ms / time_ms; }
};

TEST(Controller, AnUselessDrafterCostsLittle) {
  World w{.truth = 0, .claim = 0.9};
  for (int i = 0; i < 160; ++i) w.round();
  EXPECT_GT(w.speed_up(), 0.98);
  const double before = w.time_ms;
  for (int i = 0; i < 100; ++i) w.round();
  EXPECT_LT(w.time_ms - before, 100 * w.one_ms * 1.01);
}

TEST(Controller, AGoodDrafterIsFoundAlthoughItIsModest) {
  World w{.truth = 0.9, .claim = 0.2};
  for (int i = 0; i < 50; ++i) w.round();
  const int64_t tokens = w.tokens;
  const double ms = w.time_ms;
  for (int i = 0; i < 100; ++i) w.round();
  double best = 0, reach = 1, expected = 1;
  for (int n = 1; n <= 31; ++n, reach *= w.truth, expected += reach) best = std::max(best, expected * w.one_ms / w.pass_ms(n));
  EXPECT_GT(double(w.tokens - tokens) * w.one_ms / (w.time_ms - ms), 0.9 * best);
}

// A text that suited the drafter stops suiting it: within thirty rounds drafting has stopped, and the other way round it comes back.
TEST(Controller, FollowsAChangeOfText) {
  World w{.truth = 0.9, .claim = 0.5};
  for (int i = 0; i < 100; ++i) w.round();
  w.truth = 0.01;
  for (int i = 0; i < 30; ++i) w.round();
  const double ms = w.time_ms;
  const int64_t tokens = w.tokens;
  for (int i = 0; i < 100; ++i) w.round();
  EXPECT_GT(double(w.tokens - tokens) * w.one_ms / (w.time_ms - ms), 0.97);
}

// The machine becomes twice as slow for a while: no reason to stop drafting what pays.
TEST(Controller, ASlowMachineIsNotTheDraftersFault) {
  World w{.truth = 0.85, .claim = 0.5};
  for (int i = 0; i < 60; ++i) w.round();
  w.one_ms *= 2, w.row_ms *= 2;
  for (int i = 0; i < 15; ++i) w.round();
  w.one_ms /= 2, w.row_ms /= 2;
  for (int i = 0; i < 15; ++i) w.round();
  const double ms = w.time_ms;
  const int64_t tokens = w.tokens;
  for (int i = 0; i < 60; ++i) w.round();
  EXPECT_GT(double(w.tokens - tokens) * w.one_ms / (w.time_ms - ms), 2);
}

TEST(Controller, ThePriceOfPlainDecodingIsMeasuredFirst) {
  Controller c;
  EXPECT_FALSE(c.ready(1, 0));
  StepRecord plain;
  plain.rows = 1, plain.decoding = 1, plain.emitted = 1, plain.verify_ms = 20;
  c.learn(plain, 1, 0);
  EXPECT_TRUE(c.ready(1, 0));
  EXPECT_DOUBLE_EQ(c.budget(1, 1, 0).tokens_per_ms, 1 / 20.0);
  EXPECT_DOUBLE_EQ(c.budget(1, 1, 0).pass_ms(0), 20);
}

StepRecord round_of(int rows, int emitted, double pass_ms, double draft_ms = 0, double invested_ms = 0) {
  StepRecord r;
  r.rows = rows, r.decoding = 1, r.emitted = emitted, r.verify_ms = pass_ms, r.draft_ms = draft_ms, r.invested_ms = invested_ms;
  return r;
}

// What was spent once on reading a text is not the price of the rounds after it.
TEST(Controller, AnInvestmentDoesNotLowerTheRate) {
  Controller c;
  c.learn(round_of(1, 1, 20), 1, 0);
  for (int i = 0; i < 8; ++i) c.learn(round_of(4, 4, 20), 1, 0);
  const double before = c.budget(1, 1, 0).tokens_per_ms;
  c.learn(round_of(4, 4, 20, 500, 500), 1, 0);
  EXPECT_GE(c.budget(1, 1, 0).tokens_per_ms, before);
  c.learn(round_of(4, 4, 20, 500), 1, 0);
  EXPECT_LT(c.budget(1, 1, 0).tokens_per_ms, before / 2);
}

TEST(Controller, TheUsualRateOfEarlierRunsIsBelievedAtFirst) {
  Controller before, after;
  before.learn(round_of(1, 1, 20), 1, 0);
  for (int i = 0; i < 100; ++i) before.learn(round_of(4, 4, 20), 1, 0);
  Archive written;
  before.archive(written);
  Archive read(written.written());
  after.archive(read);
  after.learn(round_of(1, 1, 20), 1, 0);
  EXPECT_GT(after.budget(1, 1, 0).tokens_per_ms, 1.2 / 20);
  EXPECT_LT(after.budget(1, 1, 0).tokens_per_ms, 2.0 / 20);  // one run does not settle it
}

}  // namespace
}  // namespace outrider
