// What a person allows each of those who guess: its rows, how few are worth having, its guesses at one place.
#include "draft/blend.h"

#include <gtest/gtest.h>

#include "draft/kinds.h"

namespace outrider {
namespace {

// Guesses `width` tokens at every place, whatever was drafted: first, first + 1, …
class Eager final : public Source {
 public:
  Eager(std::string_view name, int32_t first, int width, float prior) : name_(name), first_(first), width_(width), prior_(prior) {}
  std::string_view name() const override { return name_; }
  Result<std::unique_ptr<Reader>> open(const SourceRequest&) override { return std::unique_ptr<Reader>(std::make_unique<Always>(*this)); }

 private:
  struct Always final : Reader {
    explicit Always(const Eager& source) : by(source) {}
    void append(std::span<const int32_t>) override {}
    void guess(std::span<const int32_t>, Guesses& out) const override {
      for (int i = 0; i < by.width_; ++i) out.add({by.first_ + i, i, by.prior_ / float(i + 1)});
    }
    const Eager& by;
  };
  std::string_view name_;
  int32_t first_;
  int width_;
  float prior_;
};

struct Kind {
  int32_t first;
  float prior;
  KindLimits limits;
  int width = 2;
};

// The draft of one round in which everything that is allowed is drafted.
Draft drafted(const std::vector<Kind>& kinds, DraftLimits all = {}) {
  SteadyClock clock;
  std::vector<std::unique_ptr<Source>> sources;
  Blend::Options how{.limits = all, .automatic = false};
  for (const Kind& k : kinds) how.each[sources.size()] = k.limits, sources.push_back(std::make_unique<Eager>("eager", k.first, k.width, k.prior));
  Blend blend(std::move(sources), nullptr, clock, how);
  const std::vector<int32_t> prompt{1, 2, 3};
  const SamplingSettings sampling;
  EXPECT_TRUE(blend.begin(1, {.prompt = prompt, .prediction = {}, .sampling = sampling}).ok());
  Draft draft;
  DraftJob job{.request = 1, .tokens = std::span(prompt).first(2), .pending = 3, .budget = kMaxDraftRows - 1, .draft = &draft};
  blend.propose({&job, 1}, {});
  return draft;
}

int most_siblings(const Draft& d, int by) {
  int most = 0;
  for (int parent = 0; parent < d.tree.size; ++parent) {
    int here = 0;
    for (int row = 1; row < d.tree.size; ++row) here += d.tree.parents[size_t(row)] == parent && d.source[size_t(row)] == by;
    most = std::max(most, here);
  }
  return most;
}

TEST(KindLimits, EachHasItsOwnMost) {
  const Draft d = drafted({{100, 0.8f, {.max = 4}}, {200, 0.4f, {.max = 12}}});
  EXPECT_EQ(d.rows_of(0), 4);  // though it is the surest
  EXPECT_EQ(d.rows_of(1), 12);
  EXPECT_EQ(d.size(), 16);
  EXPECT_EQ(drafted({{100, 0.8f, {.max = 4}}, {200, 0.4f, {.max = 12}}}, {.max = 10}).size(), 10);  // within what all together may have
}

TEST(KindLimits, WhatAnotherGuessesTooIsItsWhenTheFirstHasNoneLeft) {
  const Draft d = drafted({{100, 0.8f, {.max = 3}, 1}, {100, 0.4f, {.max = 5}, 1}});
  EXPECT_EQ(d.rows_of(0), 3);
  EXPECT_EQ(d.rows_of(1), 5);
}

TEST(KindLimits, EachHasItsOwnWidth) {
  const Draft d = drafted({{100, 0.8f, {.width = 1}}, {200, 0.7f, {.width = 2}}});
  EXPECT_EQ(most_siblings(d, 0), 1);
  EXPECT_EQ(most_siblings(d, 1), 2);
}

TEST(KindLimits, TooFewOfOneAreDroppedWithWhatHangsFromThem) {
  const std::vector<Kind> kinds{{100, 0.9f, {.max = 3, .min = 4}, 1}, {200, 0.5f, {}, 1}};
  const Draft d = drafted(kinds);
  EXPECT_EQ(d.rows_of(0), 0);
  EXPECT_GT(d.rows_of(1), 0);
  for (int row = 1; row < d.tree.size; ++row) {
    EXPECT_EQ(d.tree.tokens[size_t(row)], 200);
    EXPECT_LT(d.tree.parents[size_t(row)], row);
    EXPECT_FLOAT_EQ(d.reach[size_t(row)], d.survival[size_t(row)] * d.trust * d.reach[size_t(d.tree.parents[size_t(row)])]);
  }
  EXPECT_EQ(drafted({{100, 0.9f, {.max = 3, .min = 3}, 1}}).size(), 3);
  EXPECT_EQ(drafted({{100, 0.9f, {.max = 3}, 1}}, {.min = 4}).size(), 0);
}

TEST(Kinds, TheListKnowsWhoLearns) {
  for (const SourceKind& kind : source_kinds()) EXPECT_EQ(kind.learns, kind.make({})->learns()) << kind.name;
}

}  // namespace
}  // namespace outrider
