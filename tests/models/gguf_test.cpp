// The real model files: what they hold, and what is said about damaged ones.
#include <gtest/gtest.h>
#include <unistd.h>

#include "gguf/describe.h"
#include "model/vocabulary.h"
#include "model_files.h"
#include "support/files.h"

namespace outrider {
namespace {

Vocabulary vocabulary_of(const char* model) {
  auto file = GgufFile::open(test::model_path(model));
  if (!file) { ADD_FAILURE() << file.error().message << " — run tools/fetch_models"; return {}; }
  auto vocabulary = read_vocabulary(*file);
  if (!vocabulary) { ADD_FAILURE() << vocabulary.error().message; return {}; }
  return std::move(*vocabulary);
}

TEST(RealFiles, TypesAndParameters) {
  const struct { const char* model; const char* architecture; uint64_t parameters; size_t tensors; std::vector<std::string> types; } files[] = {
      {test::kQwen15, "qwen2", 1777088000, 339, {"Q4_K", "Q6_K", "F32"}},
      {test::kQwen05, "qwen2", 630167424, 291, {"Q5_0", "Q8_0", "Q6_K", "Q4_K", "F32"}},
      {test::kSmol, "llama", 134515008, 272, {"Q4_1", "Q8_0", "F32"}},
      {test::kGemma, "gemma3", 268098176, 236, {"Q8_0", "Q5_0", "Q4_K", "Q6_K", "F32"}}};
  for (const auto& expected : files) {
    auto file = GgufFile::open(test::model_path(expected.model));
    ASSERT_TRUE(file) << file.error().message;
    const FileSummary s = describe(*file);
    EXPECT_EQ(s.architecture, expected.architecture);
    EXPECT_EQ(s.parameters, expected.parameters);
    EXPECT_EQ(file->tensors().size(), expected.tensors);
    std::vector<std::string> types;
    for (const auto& line : s.types) types.push_back(line.name);
    EXPECT_EQ(types, expected.types);
    EXPECT_TRUE(file->check_runnable());
  }
}

TEST(RealFiles, EndTokens) {
  EXPECT_EQ(vocabulary_of(test::kSmol).end_ids, (std::vector<TokenId>{0, 2, 4}));
  EXPECT_EQ(vocabulary_of(test::kQwen15).end_ids, (std::vector<TokenId>{128247, 151643, 151645, 151662, 151663, 151664})) << "128247 is </s>, which the file calls normal";
  const Vocabulary qwen = vocabulary_of(test::kQwen05), gemma = vocabulary_of(test::kGemma);
  EXPECT_EQ(qwen.real_tokens, 151665u);
  EXPECT_EQ(qwen.eot, 151645);
  EXPECT_FALSE(qwen.chat_template.empty());
  EXPECT_TRUE(gemma.ends_generation(1));
  EXPECT_TRUE(gemma.ends_generation(106));
  EXPECT_TRUE(gemma.add_bos);
  EXPECT_FALSE(gemma.add_space_prefix);
  EXPECT_TRUE(gemma.chat_template.empty());
}

TEST(RealFiles, WhichVocabulariesGoTogether) {
  const Vocabulary big = vocabulary_of(test::kQwen15), small = vocabulary_of(test::kQwen05), other = vocabulary_of(test::kSmol);
  EXPECT_TRUE(compare_vocabularies(big, small).compatible) << compare_vocabularies(big, small).difference;
  const auto foreign = compare_vocabularies(big, other);
  EXPECT_FALSE(foreign.compatible);
  EXPECT_NE(foreign.difference.find("the target has 151936 tokens (151665 real), the draft 49152 tokens (49152 real)"), std::string::npos) << foreign.difference;
  EXPECT_NE(foreign.difference.find("0 is '!' (normal) and '<|endoftext|>' (control)"), std::string::npos) << foreign.difference;
}

TEST(RealFiles, CutFilesAreNamedAsSuch) {
  auto file = GgufFile::open(test::model_path(test::kSmol));
  ASSERT_TRUE(file) << file.error().message;
  const uint64_t size = file->size_bytes();
  const std::string head = [&] {
    std::ifstream in(file->path(), std::ios::binary);
    std::string bytes(8 << 20, '\0');
    in.read(bytes.data(), std::streamsize(bytes.size()));
    return bytes;
  }();
  test::TemporaryFolder folder;
  const std::string path = folder / "cut.gguf";
  test::write_file(path, head);
  for (uint64_t cut : {size * 6 / 10, size * 999 / 1000}) {
    std::filesystem::resize_file(path, cut);  // the weights are holes; opening does not look at them
    auto opened = GgufFile::open(path);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find("file ends at " + std::to_string(cut) + ", tensor '"), std::string::npos) << opened.error().message;
  }
  for (uint64_t cut : {uint64_t(0), uint64_t(23), uint64_t(1000000)}) {
    std::filesystem::resize_file(path, cut);
    EXPECT_FALSE(GgufFile::open(path)) << cut;
  }
  if (geteuid() != 0) {  // root may read anything
    std::filesystem::permissions(path, std::filesystem::perms::none);
    auto opened = GgufFile::open(path);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find("Permission denied"), std::string::npos);
  }
}

}  // namespace
}  // namespace outrider
