#include "draft/translator.h"

#include <gtest/gtest.h>

#include <cmath>

namespace outrider {
namespace {

struct Entry { std::string text; TokenType type = TokenType::normal; };

Vocabulary bpe(const std::vector<Entry>& tokens) {
  Vocabulary v;
  for (const Entry& t : tokens) {
    v.texts.push_back(t.text), v.types.push_back(t.type);
    v.padding_.push_back(t.type == TokenType::unused);
    v.real_tokens += t.type != TokenType::unused;
  }
  return v;
}

using Ids = std::vector<int32_t>;
constexpr auto kControl = TokenType::control;

const Vocabulary kTarget = bpe({{"<end>", kControl}, {"Ġthe"}, {"re"}, {"theatre"}, {"<tool>", kControl}, {"zoo"}, {"[PAD]", TokenType::unused}});
const Vocabulary kDrafter = bpe({{"t"}, {"h"}, {"e"}, {"a"}, {"r"}, {"the"}, {"atre"}, {"Ġthe"}, {"re"}, {"o"}, {"<end>", kControl}});

Ids read(const Translator& t, int32_t token) {
  const auto own = t.read(token);
  return {own.begin(), own.end()};
}

TEST(Translator, TokensAreFoundOrSpelled) {
  const Translator t(kTarget, kDrafter, 8);
  EXPECT_EQ(read(t, 1), Ids{7});
  EXPECT_EQ(read(t, 2), Ids{8});
  EXPECT_EQ(read(t, 3), (Ids{5, 6}));  // the longest first
  EXPECT_EQ(read(t, 0), Ids{10});      // a control token is the one of the same text,
  EXPECT_EQ(read(t, 4), Ids{});        // and is never spelled
  EXPECT_EQ(read(t, 5), Ids{});        // z has no token
  for (const int32_t none : {-1, 6, 7, 100}) EXPECT_EQ(read(t, none), Ids{});
}

TEST(Translator, TakesAMapThatWasMadeBefore) {
  VocabularyMap map = map_vocabularies(kTarget, kDrafter);
  map.to_drafter[1] = 5;  // which nothing but this map says
  EXPECT_EQ(read(Translator(map, kTarget, kDrafter, 8), 1), Ids{5});
}

TEST(Translator, ATextGoesOn) {
  const Translator t(kTarget, kDrafter, 8);
  Ids text = t.open(Ids{1, 5, 3}, 16);
  EXPECT_EQ(text, (Ids{7, 5, 6}));
  t.append(2, text), t.append(4, text);
  EXPECT_EQ(text, (Ids{7, 5, 6, 8}));
}

TEST(Translator, OpensAsTheDrafterExpects) {
  Vocabulary drafter = bpe({{"<bos>", kControl}, {"a"}});
  drafter.bos = 0, drafter.add_bos = true;
  EXPECT_EQ(Translator(bpe({{"a"}}), drafter, 1).open(Ids{0}, 4), (Ids{0, 1}));
  EXPECT_EQ(Translator(bpe({{"a"}, {"<bos>", kControl}}), drafter, 2).open(Ids{1, 0}, 4), (Ids{0, 1}));  // once is enough
}

TEST(Translator, LogitsByTheTargetsIds) {
  const Translator t(kTarget, kDrafter, 8);
  std::vector<float> own(kDrafter.size(), 9.0f), row(8);
  own[7] = 1, own[8] = 2, own[10] = 3;
  t.scatter(own, row);
  EXPECT_EQ((std::vector<float>{row[0], row[1], row[2]}), (std::vector<float>{3, 1, 2}));
  for (size_t id = 3; id < row.size(); ++id) EXPECT_TRUE(std::isinf(row[id]) && row[id] < 0) << id;
  EXPECT_EQ(Ids(t.target_padding().begin(), t.target_padding().end()), (Ids{6, 7}));
}

TEST(Translator, NoneBetweenSiblings) {
  EXPECT_EQ(Translator::between(kTarget, kTarget, 8), nullptr);
  EXPECT_NE(Translator::between(kTarget, kDrafter, 8), nullptr);
}

}  // namespace
}  // namespace outrider
