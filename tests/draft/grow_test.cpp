#include "draft/grow.h"

#include <gtest/gtest.h>

namespace outrider {
namespace {

// A language in which a row's token tells what follows: two children with the given survivals, or none.
Choices two(float first, float second, int32_t tokens) {
  Choices c;
  c.list[0] = {tokens, first, first, 0, 1, 0}, c.list[1] = {tokens + 1, second, second, 0, 1, 0};
  c.count = second > 0 ? 2 : first > 0 ? 1 : 0;
  return c;
}

struct Grown {
  Draft draft;
  Grown(const DraftBudget& budget, int most, int width, auto&& follow) {
    draft.reset(100);
    DraftJob job{.request = 1, .tokens = {}, .pending = 100, .budget = most, .draft = &draft};
    TreeGrower(1).grow(std::span(&job, 1), budget, {.width = width}, [&](int, int row) { return follow(draft, row); });
  }
};

// Passes of these prices, for n = 1, 2, …
StepCosts prices(double one, double each) {
  StepCosts c;
  for (int times = 0; times < 200; ++times)
    for (int n = 1; n <= 8; ++n) c.learn(n, 0, one + each * (n - 1));
  return c;
}

TEST(Grow, RowsComeInTheOrderTheyAreReached) {
  const Grown g({}, 20, 2, [](const Draft& d, int row) { return d.tree.depth(row) < 4 ? two(0.6f, 0.3f, row * 10) : Choices{}; });
  EXPECT_EQ(g.draft.size(), 20);
  for (int row = 2; row <= 20; ++row) EXPECT_LE(g.draft.reach[size_t(row)], g.draft.reach[size_t(row - 1)] + 1e-6f);
  for (int row = 1; row <= 20; ++row) EXPECT_FLOAT_EQ(g.draft.reach[size_t(row)], g.draft.reach[size_t(g.draft.tree.parents[size_t(row)])] * g.draft.survival[size_t(row)]);
}

TEST(Grow, WidthOneGivesChains) {
  const Grown g({}, 9, 1, [](const Draft&, int row) { return two(0.5f, 0.5f, row * 10); });
  EXPECT_EQ(g.draft.size(), 9);
  for (int row = 1; row <= 9; ++row) EXPECT_EQ(g.draft.tree.parents[size_t(row)], row - 1);
}

// The number of rows is the best over the whole staircase, by trying all.
TEST(Grow, TheSizeIsTheBestOne) {
  StepCosts stairs;
  for (int times = 0; times < 200; ++times)
    for (int n = 1; n <= 32; ++n) stairs.learn(n, 0, n <= 4 ? 20 + 0.2 * n : n <= 8 ? 26 : n <= 16 ? 29 + 0.1 * n : 60);
  for (const float survival : {0.05f, 0.3f, 0.6f, 0.8f, 0.95f, 0.99f}) {
    const DraftBudget budget{.costs = &stairs, .tokens_per_ms = 1.0 / 20};
    const Grown g(budget, 31, 1, [&](const Draft&, int row) { return two(survival, 0, row); });
    int best = 0;
    double most = -1e9, expected = 1, reach = 1;
    for (int n = 0; n <= 31; ++n) {
      const double next = reach * double(survival), worth = expected - budget.tokens_per_ms * budget.pass_ms(n);
      const double value = worth > 0 ? worth / (1 - std::min(next, 0.97)) : worth;
      if (value > most + (n == 1 ? 0.03 : 0)) most = value, best = n;
      reach = next, expected += reach;
    }
    EXPECT_EQ(g.draft.size(), best) << survival;
  }
}

// Where every guess comes true, rows are drafted while they make a token cheaper: what is left out opens the next round.
TEST(Grow, SureTextTakesTheRowsThatCostLeastAToken) {
  StepCosts costs;
  for (int times = 0; times < 200; ++times)
    for (int n = 1; n <= 32; ++n) costs.learn(n, 0, n <= 8 ? 30 + n : 4.9 * n);  // a token costs 4.75 ms at n = 8, 4.9 from there on
  const Grown g({.costs = &costs, .tokens_per_ms = 1.0 / 31}, 31, 1, [&](const Draft&, int row) { return two(0.995f, 0, row); });
  EXPECT_EQ(g.draft.size(), 7);
  Draft paid;
  paid.reset(100);
  DraftJob job{.request = 1, .tokens = {}, .pending = 100, .budget = 31, .draft = &paid};
  TreeGrower(1).grow(std::span(&job, 1), {.costs = &costs, .tokens_per_ms = 1.0 / 31}, {.width = 1, .paid = 1}, [&](int, int row) { return two(0.995f, 0, row); });
  EXPECT_EQ(paid.size(), 31);  // guesses that a model was paid for are all used
}

TEST(Grow, ARowThatDoesNotPayIsNotDrafted) {
  const StepCosts dear = prices(20, 10), cheap = prices(20, 0.1);
  const auto follow = [](const Draft&, int row) { return two(0.3f, 0, row); };
  EXPECT_EQ(Grown({.costs = &dear, .tokens_per_ms = 1.0 / 20}, 7, 4, follow).draft.size(), 0);  // 0.3 tokens for half a step
  EXPECT_GE(Grown({.costs = &cheap, .tokens_per_ms = 1.0 / 20}, 7, 4, follow).draft.size(), 2);
}

TEST(Grow, RequestsShareTheRowsByWorth) {
  const StepCosts costs = prices(20, 2);
  std::array<Draft, 2> drafts;
  std::array<DraftJob, 2> jobs;
  for (int i = 0; i < 2; ++i) drafts[size_t(i)].reset(7), jobs[size_t(i)] = {.request = i, .tokens = {}, .pending = 7, .budget = 31, .draft = &drafts[size_t(i)]};
  TreeGrower(2).grow(std::span(jobs), {.costs = &costs, .base_rows = 2,   .tokens_per_ms = 2.0 / 22}, {.width = 1}, [](int j, int row) { return two(j == 0 ? 0.9f : 0.5f, 0, row); });
  EXPECT_GT(drafts[0].size(), drafts[1].size());
  const float last = std::min(drafts[0].reach[size_t(drafts[0].size())], drafts[1].size() ? drafts[1].reach[size_t(drafts[1].size())] : 1.0f);
  EXPECT_GE(last, 0.15f);  // about what a row costs
}

TEST(Grow, BudgetsBound) {
  for (int most : {0, 1, 5, 31, 40}) EXPECT_EQ(Grown({}, most, 3, [](const Draft&, int row) { return two(0.9f, 0.05f, row * 2); }).draft.size(), std::min(most, kMaxDraftRows - 1));
}

}  // namespace
}  // namespace outrider
