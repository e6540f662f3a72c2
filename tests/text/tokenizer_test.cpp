#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <thread>

#include "vocabularies.h"

namespace outrider {
namespace {

std::vector<std::string> pieces_of(const Tokenizer& t, const std::vector<TokenId>& ids) {
  std::vector<std::string> out;
  for (TokenId id : ids) out.emplace_back(t.piece(id, true));
  return out;
}
using Pieces = std::vector<std::string>;

class BpeTokenizer : public testing::Test {
 protected:
  Vocabulary vocabulary_ = test::bpe_vocabulary();
  Tokenizer t_ = std::move(Tokenizer::make(vocabulary_).value());
};

TEST_F(BpeTokenizer, MergesByRank) {
  EXPECT_EQ(pieces_of(t_, t_.encode("the other")), (Pieces{"the", " o", "the", "r"}));
  EXPECT_EQ(t_.decode(t_.encode("    return the")), "    return the");
}

TEST_F(BpeTokenizer, ControlTokensOnlyWhereAllowed) {
  const TokenId start = *vocabulary_.find("<|im_start|>"), end = *vocabulary_.find("<|im_end|>");
  EXPECT_EQ(t_.encode("<|im_start|>", {.parse_special = true}), std::vector<TokenId>{start});
  EXPECT_GT(t_.encode("<|im_start|>").size(), 1u);
  const TextSegment segments[] = {{"<|im_start|>user\n", true}, {"stop <|im_end|> now", false}, {"<|im_end|>\n", true}};
  const auto ids = t_.encode(segments, false);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), start), 1);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), end), 1);
  EXPECT_EQ(t_.decode(ids, true), "<|im_start|>user\nstop <|im_end|> now<|im_end|>\n");
}

TEST_F(BpeTokenizer, ControlTokensDoNotFormAcrossBorders) {
  const TextSegment outside_in[] = {{"<|im_", true}, {"end|>", false}};
  const TextSegment inside_out[] = {{"<|im_end|", false}, {">", true}};
  const TextSegment together[] = {{"<|im_", true}, {"end|>", true}};
  for (TokenId id : t_.encode(outside_in, false)) EXPECT_NE(vocabulary_.types[size_t(id)], TokenType::control);
  for (TokenId id : t_.encode(inside_out, false)) EXPECT_NE(vocabulary_.types[size_t(id)], TokenType::control);
  EXPECT_EQ(t_.encode(together, false).size(), 1u) << "both halves come from the template";
}

TEST_F(BpeTokenizer, WordsReachAcrossSegments) {
  const TextSegment segments[] = {{"t", true}, {"h", false}, {"e", true}};
  EXPECT_EQ(t_.encode(segments, false), t_.encode("the"));
}

TEST_F(BpeTokenizer, AnyBytesComeBack) {
  std::string all;
  for (int b = 0; b < 256; ++b) all += char(b);
  EXPECT_EQ(t_.decode(t_.encode(all)), all);
  EXPECT_TRUE(t_.encode("").empty());
}

TEST_F(BpeTokenizer, PaddingAndControlPrintNothing) {
  EXPECT_EQ(t_.piece(*vocabulary_.find("<|im_end|>")), "");
  EXPECT_EQ(t_.piece(*vocabulary_.find("<|im_end|>"), true), "<|im_end|>");
  EXPECT_EQ(t_.piece(TokenId(vocabulary_.size() - 1), true), "");
}

TEST_F(BpeTokenizer, BosOnceAndEos) {
  Vocabulary v = vocabulary_;
  v.add_bos = v.add_eos = true;
  v.bos = v.find("<|endoftext|>");
  auto t = Tokenizer::make(v);
  ASSERT_TRUE(t);
  EXPECT_EQ(pieces_of(*t, t->encode("the", {.add_special = true})), (Pieces{"<|endoftext|>", "the", "<|im_end|>"}));
  EXPECT_EQ(pieces_of(*t, t->encode("<|endoftext|>the", {.parse_special = true, .add_special = true})), (Pieces{"<|endoftext|>", "the", "<|im_end|>"}));
  EXPECT_EQ(pieces_of(*t, t->encode("", {.add_special = true})), (Pieces{"<|endoftext|>", "<|im_end|>"}));
  EXPECT_EQ(pieces_of(*t, t->encode("the")), (Pieces{"the"}));
}

TEST_F(BpeTokenizer, UnknownPretokenizerIsNamed) {
  Vocabulary v = vocabulary_;
  v.pre = "zebra";
  auto t = Tokenizer::make(v);
  ASSERT_FALSE(t);
  EXPECT_NE(t.error().message.find("'zebra'"), std::string::npos);
}

TEST_F(BpeTokenizer, ThreadsShareIt) {
  const auto expected = t_.encode("the thing and the other in the end");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 300; ++n) EXPECT_EQ(t_.encode("the thing and the other in the end"), expected);
    });
}

TEST_F(BpeTokenizer, MergesWhoseResultIsNoTokenFallBackToBytes) {
  Vocabulary v = vocabulary_;
  v.merges.insert(v.merges.begin(), "z q");
  auto t = Tokenizer::make(v);
  ASSERT_TRUE(t);
  EXPECT_EQ(pieces_of(*t, t->encode("zq")), (Pieces{"z", "q"}));
}

// Reference: joins the best-scored pair until none is left.
TEST(SpmTokenizer, JoinsByScore) {
  const std::vector<std::pair<std::string, float>> pieces = {{"a", -10}, {"b", -10}, {"c", -10}, {"▁", -10}, {"ab", -1}, {"bc", -0.5f}, {"abc", -2}, {"▁a", -3}, {"▁abc", -1}};
  auto t = Tokenizer::make(test::spm_vocabulary(pieces, false));
  ASSERT_TRUE(t);
  EXPECT_EQ(pieces_of(*t, t->encode("abc")), (Pieces{"abc"}));
  EXPECT_EQ(pieces_of(*t, t->encode("ab abc")), (Pieces{"ab", " abc"}));
  EXPECT_EQ(pieces_of(*t, t->encode("aé")), (Pieces{"a", "\xc3", "\xa9"}));
  EXPECT_EQ(t->decode(t->encode("ab\xff é a")), "ab\xff é a");
}

TEST(SpmTokenizer, SpacePrefix) {
  auto t = Tokenizer::make(test::spm_vocabulary({{"a", -1}, {"▁", -1}, {"▁a", -0.5f}}, true));
  ASSERT_TRUE(t);
  EXPECT_EQ(pieces_of(*t, t->encode("a")), (Pieces{" a"}));
  EXPECT_EQ(t->decode(t->encode("a")), "a");
  EXPECT_EQ(pieces_of(*t, t->encode("a<s>a", {.parse_special = true, .add_special = true})), (Pieces{"<s>", " a", "<s>", " a"}));
}

TEST(SpmTokenizer, TokensThatCrossWords) {
  const std::vector<std::pair<std::string, float>> pieces = {{"a", -10}, {"b", -10}, {"▁", -10}, {"a▁", -5}, {"a▁b", -1}, {"▁b", -6}};
  auto t = Tokenizer::make(test::spm_vocabulary(pieces, false));
  ASSERT_TRUE(t);
  EXPECT_EQ(pieces_of(*t, t->encode("a b b a")), (Pieces{"a b", " b", " ", "a"}));
}

TEST(SpmTokenizer, UserDefinedTokensAreFoundInRawText) {
  auto t = Tokenizer::make(test::spm_vocabulary({{"a", -1}, {"<u:x>", 0}, {"<u:x><u:y>", 0}, {"▁", -1}}, false));
  ASSERT_TRUE(t);
  EXPECT_EQ(pieces_of(*t, t->encode("a<u:x><u:y><u:x>a")), (Pieces{"a", "<u:x><u:y>", "<u:x>", "a"}));
}

}  // namespace
}  // namespace outrider
