// What the vocabularies of the real files have in common.
#include "draft/vocabulary_map.h"

#include <gtest/gtest.h>

#include "model_files.h"

namespace outrider {
namespace {

Vocabulary vocabulary(const char* name) {
  auto file = GgufFile::open(test::model_path(name));
  EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().message);
  auto v = read_vocabulary(*file);
  EXPECT_TRUE(v.ok());
  return std::move(*v);
}

TEST(RealVocabularyMap, SiblingsShareTheirIds) {
  const VocabularyMap map = map_vocabularies(vocabulary(test::kQwen15), vocabulary(test::kQwen05));
  EXPECT_TRUE(map.identical) << map.words;
}

TEST(RealVocabularyMap, StrangersShareMostOfTheSmallerOne) {
  const Vocabulary target = vocabulary(test::kQwen15), smol = vocabulary(test::kSmol), gemma = vocabulary(test::kGemma);
  for (const Vocabulary* drafter : {&smol, &gemma}) {
    const VocabularyMap map = map_vocabularies(target, *drafter);
    EXPECT_FALSE(map.identical);
    for (size_t id = 0; id < map.to_target.size(); ++id) {
      const TokenId other = map.to_target[id];
      if (other < 0) continue;
      ASSERT_EQ(token_bytes(*drafter, TokenId(id)), token_bytes(target, other));
      ASSERT_EQ(drafter->types[id] == TokenType::control, target.types[size_t(other)] == TokenType::control);
    }
  }
  const VocabularyMap map = map_vocabularies(target, smol);
  EXPECT_GT(map.drafter_known, smol.real_tokens * 6 / 10) << map.words;
  EXPECT_EQ(map.to_target[size_t(*smol.find("<|im_end|>"))], *target.find("<|im_end|>"));
}

}  // namespace
}  // namespace outrider
