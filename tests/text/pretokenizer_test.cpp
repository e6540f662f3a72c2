#include "text/pretokenizer.h"

#include <gtest/gtest.h>

namespace outrider {
namespace {

using Pieces = std::vector<std::string>;

Pieces split(SplitRule rule, std::string_view text) {
  std::vector<size_t> ends;
  split_text(rule, text, ends);
  Pieces out;
  size_t begin = 0;
  for (size_t end : ends) out.emplace_back(text.substr(begin, end - begin)), begin = end;
  EXPECT_EQ(begin, text.size());
  return out;
}

TEST(Pretokenizer, Qwen2) {
  const auto r = SplitRule::qwen2;
  EXPECT_EQ(split(r, "Hello world! It's 12"), (Pieces{"Hello", " world", "!", " It", "'s", " ", "1", "2"}));
  EXPECT_EQ(split(r, "DON'T 'Sx"), (Pieces{"DON", "'T", " '", "Sx"}));
  EXPECT_EQ(split(r, "a  b   c"), (Pieces{"a", " ", " b", "  ", " c"}));
  EXPECT_EQ(split(r, "x \n\n  y"), (Pieces{"x", " \n\n", " ", " y"}));
  EXPECT_EQ(split(r, "end;\r\n\tif"), (Pieces{"end", ";\r\n", "\tif"}));
  EXPECT_EQ(split(r, "trailing   "), (Pieces{"trailing", "   "}));
  EXPECT_EQ(split(r, "(foo) -> bar"), (Pieces{"(foo", ")", " ->", " bar"}));
  EXPECT_EQ(split(r, "a\u0301b"), (Pieces{"a", "\u0301b"}));
  EXPECT_EQ(split(r, ""), Pieces{});
}

TEST(Pretokenizer, Qwen35KeepsMarksInWords) {
  EXPECT_EQ(split(SplitRule::qwen35, "a\u0301b क्ष"), (Pieces{"a\u0301b", " क्ष"}));
  EXPECT_EQ(split(SplitRule::qwen2, "क्ष"), (Pieces{"क", "्ष"}));
}

TEST(Pretokenizer, Llama3GroupsDigits) { EXPECT_EQ(split(SplitRule::llama3, "1234567 x1"), (Pieces{"123", "456", "7", " x", "1"})); }

TEST(Pretokenizer, Gpt2) {
  EXPECT_EQ(split(SplitRule::gpt2, "It's 1234 x-y\n\nz 'S"), (Pieces{"It", "'s", " 1234", " x", "-", "y", "\n", "\n", "z", " '", "S"}));
}

TEST(Pretokenizer, SmollmSplitsDigitsFirst) { EXPECT_EQ(split(SplitRule::smollm, "a 12  3"), (Pieces{"a", " ", "1", "2", "  ", "3"})); }

TEST(Pretokenizer, General) {
  EXPECT_EQ(split(SplitRule::general, "it's 12345, ok"), (Pieces{"it", "'", "s", " ", "123", "45", ",", " ok"}));
  EXPECT_EQ(split(SplitRule::general, "a+=b"), (Pieces{"a", "+=", "b"}));
}

TEST(Pretokenizer, StrayBytesAreSymbols) { EXPECT_EQ(split(SplitRule::qwen2, "a\xff\xfe" "b \xc3"), (Pieces{"a", "\xff\xfe", "b", " \xc3"})); }

TEST(Pretokenizer, Names) {
  EXPECT_EQ(find_pretokenizer("deepseek-r1-qwen").rule, SplitRule::qwen2);
  EXPECT_TRUE(find_pretokenizer("llama-bpe").ignore_merges);
  EXPECT_EQ(find_pretokenizer("").rule, SplitRule::general);
  EXPECT_TRUE(find_pretokenizer("").known);
  EXPECT_FALSE(find_pretokenizer("zebra").known);
}

}  // namespace
}  // namespace outrider
