#include "draft/forced.h"

#include <gtest/gtest.h>

#include <vector>

namespace outrider {
namespace {

// The rule: 1 is followed by 2, and 2 by 3; else anything goes.
class Rule final : public Foresight {
 public:
  int32_t only_choice(std::span<const int32_t> drafted) const override {
    const int32_t last = drafted.empty() ? text : drafted.back();
    return last == 1 || last == 2 ? last + 1 : -1;
  }
  int32_t text = 1;
};

TEST(Forced, GuessesWhatTheRuleLeaves) {
  Rule rule;
  SourceRequest request;
  ForcedSource source;
  EXPECT_FALSE(source.open(request).ok());
  request.foresight = &rule;
  const auto reader = std::move(*source.open(request));
  const auto guess = [&](const std::vector<int32_t>& drafted) {
    Guesses out;
    reader->guess(drafted, out);
    return out;
  };
  ASSERT_EQ(guess({}).count, 1);
  EXPECT_EQ(guess({}).list[0].token, 2);
  EXPECT_EQ(guess({}).list[0].prior, 1);
  EXPECT_EQ(guess({2}).list[0].token, 3);
  EXPECT_EQ(guess({2, 3}).count, 0);
  rule.text = 5;  // the answer went on, and whoever made the rule knows
  EXPECT_EQ(guess({}).count, 0);
}

}  // namespace
}  // namespace outrider
