#include "draft/blend.h"

#include <gtest/gtest.h>

#include "base/clock.h"
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

}  // namespace
}  // namespace outrider
