#include "draft/vocabulary_map.h"

#include <gtest/gtest.h>

namespace outrider {
namespace {

struct Entry { std::string text; TokenType type = TokenType::normal; };

Vocabulary vocabulary(VocabularyKind kind, const std::vector<Entry>& tokens) {
  Vocabulary v;
  v.kind = kind;
  for (const Entry& t : tokens) {
    v.texts.push_back(t.text), v.types.push_back(t.type);
    v.padding_.push_back(t.type == TokenType::unused);
    v.real_tokens += t.type != TokenType::unused;
  }
  return v;
}

Vocabulary bpe(const std::vector<Entry>& tokens) { return vocabulary(VocabularyKind::bpe, tokens); }
Vocabulary spm(const std::vector<Entry>& tokens) { return vocabulary(VocabularyKind::spm, tokens); }

using Ids = std::vector<TokenId>;
constexpr auto kControl = TokenType::control, kByte = TokenType::byte, kUser = TokenType::user_defined;

TEST(VocabularyMap, TheSameUpToPadding) {
  const Vocabulary a = bpe({{"a"}, {"Ġb"}, {"<end>", kControl}}), b = bpe({{"a"}, {"Ġb"}, {"<end>", kControl}, {"[PAD3]", TokenType::unused}});
  const VocabularyMap map = map_vocabularies(a, b);
  EXPECT_TRUE(map.identical);
  EXPECT_EQ(map.to_target, (Ids{0, 1, 2, -1}));
  EXPECT_EQ(map.to_drafter, (Ids{0, 1, 2}));
  EXPECT_EQ(map.words, "the same 3 tokens");
  EXPECT_TRUE(map_vocabularies(b, a).identical);
}

TEST(VocabularyMap, OtherNumbersAndMissingTokens) {
  const Vocabulary target = bpe({{"x"}, {"Ġthe"}, {"a"}, {"only"}}), drafter = bpe({{"a"}, {"x"}, {"Ġthe"}});
  const VocabularyMap map = map_vocabularies(target, drafter);
  EXPECT_FALSE(map.identical);
  EXPECT_EQ(map.to_target, (Ids{2, 0, 1}));
  EXPECT_EQ(map.to_drafter, (Ids{1, 2, 0, -1}));
  EXPECT_EQ(map.drafter_known, 3u);
  EXPECT_EQ(map.target_known, 3u);
  EXPECT_EQ(map.words, "different vocabularies: 3 of 3 (100 %) tokens of the drafter are the target's, 3 of 4 (75 %) of the target's the drafter's");
}

TEST(VocabularyMap, OneMoreTokenIsNotIdentical) {
  EXPECT_FALSE(map_vocabularies(bpe({{"a"}, {"b"}}), bpe({{"a"}})).identical);
  EXPECT_FALSE(map_vocabularies(bpe({{"a"}}), bpe({{"a"}, {"b"}})).identical);
  EXPECT_FALSE(map_vocabularies(bpe({{"a"}, {"b"}}), bpe({{"a"}, {"b", kControl}})).identical);
}

TEST(VocabularyMap, ControlTokensAreNoText) {
  const Vocabulary target = bpe({{"<end>", kControl}, {"<tool>", kUser}, {"<sep>"}});
  const Vocabulary drafter = bpe({{"<tool>", kControl}, {"<sep>", kUser}, {"<stop>", kControl}, {"<end>", kControl}});
  EXPECT_EQ(map_vocabularies(target, drafter).to_target, (Ids{-1, 2, -1, 0}));
}

TEST(VocabularyMap, BetweenByteLevelAndSentencePiece) {
  const Vocabulary target = bpe({{"Ġhi"}, {"A"}, {"Ċ"}, {"é"}});  // é: the byte 0xe9 alone
  const Vocabulary drafter = spm({{"<unk>", TokenType::unknown}, {"<0x0A>", kByte}, {"<0x41>", kByte}, {"<0xE9>", kByte}, {"\xe2\x96\x81hi"}, {"A"}});
  const VocabularyMap map = map_vocabularies(target, drafter);
  EXPECT_EQ(map.to_drafter, (Ids{4, 5, 1, 3}));  // the text «A», not the byte
  EXPECT_EQ(map.to_target, (Ids{-1, 2, 1, 3, 0, 1}));
}

}  // namespace
}  // namespace outrider
