#include "draft/blend.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "model/synthetic.h"
#include "support/files.h"
#include "support/guesses.h"

namespace outrider {
namespace {

using test::Tokens;

// Writes down what it is told.
class Listener final : public Source {
 public:
  Listener(Tokens& prompt, Tokens& heard) : prompt_(prompt), heard_(heard) {}
  std::string_view name() const override { return "listener"; }
  Result<std::unique_ptr<Reader>> open(const SourceRequest& request) override {
    prompt_.assign(request.prompt.begin(), request.prompt.end());
    return std::unique_ptr<Reader>(std::make_unique<Ear>(heard_));
  }

 private:
  struct Ear final : Reader {
    explicit Ear(Tokens& heard) : heard_(heard) {}
    void append(std::span<const int32_t> tokens) override { heard_.insert(heard_.end(), tokens.begin(), tokens.end()); }
    void guess(std::span<const int32_t>, Guesses&) const override {}
    Tokens& heard_;
  };
  Tokens& prompt_;
  Tokens& heard_;
};

TEST(Blend, AReaderHearsThePromptOnceAndThenEveryEmittedToken) {
  Tokens prompt, heard;
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<Listener>(prompt, heard));
  SteadyClock clock;
  Blend blend(std::move(sources), nullptr, clock, {});
  Tokens text{1, 2, 3};
  ASSERT_TRUE(blend.begin(7, {.prompt = text, .prediction = {}, .sampling = {}}).ok());
  EXPECT_EQ(prompt, text);
  for (int32_t pending = 10; pending < 13; ++pending) {
    Draft draft;
    draft.reset(pending);
    if (pending != 11) {  // a round may pass without a proposal
      DraftJob job{.request = 7, .tokens = text, .pending = pending, .budget = 4, .draft = &draft};
      blend.propose({&job, 1}, {});
    }
    Acceptance acceptance;
    acceptance.rows[0] = 0, acceptance.length = 1, acceptance.next = pending + 1;
    const DraftOutcome outcome{7, text, &draft, &acceptance, {}};
    blend.observe({&outcome, 1});
    text.push_back(pending);
  }
  EXPECT_EQ(heard, (Tokens{10, 11, 12, 13}));
}

// Rounds of one request over a text of so many tokens, until the model has read it.
class BlendWithModel : public testing::Test {
 protected:
  static constexpr int kMost = 20;
  test::TemporaryFolder folder_;
  ThreadPool pool_{1};
  SteadyClock clock_;
  std::unique_ptr<Model> model_;
  StepCosts costs_;  // of the target: 10 ms a row, 500 ms for 128 rows; the model takes three tenths of that

  void SetUp() override {
    ASSERT_TRUE(write_synthetic_model(folder_ / "m.gguf", {.seed = 9}).ok());
    auto loaded = load_model(folder_ / "m.gguf", pool_);
    ASSERT_TRUE(loaded.ok());
    model_ = std::move(*loaded);
    for (int i = 0; i < 20; ++i) costs_.learn(1, 0, 10), costs_.learn(128, 0, 500);
  }
  // The first round in which the model read, or kMost.
  int reads_in_round(int64_t prompt, double tokens_ahead) {
    auto writer = ModelWriter::make(*model_, kernels::kernels_for(kernels::best_isa()), pool_, clock_, {.context = 1024, .relative_cost = 0.3});
    EXPECT_TRUE(writer.ok());
    Blend blend({}, std::move(*writer), clock_, {.context = 1024});
    Tokens text;
    for (int64_t i = 0; i < prompt; ++i) text.push_back(32 + int32_t(i * i % 89));
    EXPECT_TRUE(blend.begin(1, {.prompt = text, .prediction = {}, .sampling = {}}).ok());
    for (int round = 0; round < kMost; ++round) {
      Draft draft;
      DraftJob job{.request = 1, .tokens = text, .pending = 40, .budget = 4, .draft = &draft, .tokens_ahead = tokens_ahead};
      blend.propose({&job, 1}, {.costs = &costs_, .context = int64_t(text.size()), .tokens_per_ms = 0.1});
      if (job.invested_ms > 0) return round;
      EXPECT_EQ(draft.size(), 0);
      Acceptance acceptance;
      acceptance.rows[0] = 0, acceptance.length = 1, acceptance.next = 40;
      const DraftOutcome outcome{1, text, &draft, &acceptance, {}};
      blend.observe({&outcome, 1});
      text.push_back(40);
    }
    return kMost;
  }
};

TEST_F(BlendWithModel, WaitsBeforeItReadsWhatIsDear) {
  EXPECT_EQ(reads_in_round(20, 1e4), 0);   // some 20 ms
  EXPECT_EQ(reads_in_round(50, 1e4), 2);   // 60: a round for every 25
  EXPECT_EQ(reads_in_round(400, 1e4), 4);  // 470, but four rounds tell enough
  EXPECT_EQ(reads_in_round(400, 30), kMost);  // 30 tokens will not pay for that
}

TEST_F(BlendWithModel, StakesNoMoreThanMayBeLost) {
  FakeClock still;  // so that a pass of the model stays at three tenths of the target's: 3 ms, and a further row at 2.3
  const auto asked = [&](double reserve_ms) {
    auto writer = ModelWriter::make(*model_, kernels::kernels_for(kernels::best_isa()), pool_, still, {.context = 64, .relative_cost = 0.3});
    EXPECT_TRUE(writer.ok());
    Blend blend({}, std::move(*writer), still, {.context = 64});
    const Tokens text{40, 41, 42};
    EXPECT_TRUE(blend.begin(1, {.prompt = text, .prediction = {}, .sampling = {}}).ok());
    Draft draft;
    draft.reset(43);
    DraftJob job{.request = 1, .tokens = text, .pending = 43, .budget = 4, .draft = &draft, .reserve_ms = reserve_ms};
    const DraftEffort effort = blend.propose({&job, 1}, {.costs = &costs_, .context = 3, .tokens_per_ms = 1e-4});
    EXPECT_LE(effort.expected_ms + costs_.predict_ms(1 + draft.size(), 3) - costs_.predict_ms(1, 3), std::max(reserve_ms, 0.1));
    return effort.passes;
  };
  EXPECT_EQ(asked(1e9), 4);
  EXPECT_EQ(asked(9), 1);  // the text itself, three tokens, rides along
  EXPECT_EQ(asked(2), 0);
  EXPECT_EQ(asked(-5), 0);
}

}  // namespace
}  // namespace outrider
