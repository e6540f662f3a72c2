#include "model/vocabulary.h"

#include <gtest/gtest.h>

#include "gguf/writer.h"
#include "model/byte_level.h"
#include "model/synthetic.h"
#include "support/files.h"

namespace outrider {
namespace {

void expect_error(const auto& result, const std::string& part) {
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find(part), std::string::npos) << "wanted: " << part << "\ngot: " << result.error().message;
}

struct Entry { std::string text; TokenType type = TokenType::normal; };

GgufWriter writer_of(const std::vector<Entry>& tokens, const char* model = "gpt2") {
  std::vector<std::string> texts;
  std::vector<int32_t> types;
  for (const Entry& t : tokens) texts.push_back(t.text), types.push_back(int32_t(t.type));
  GgufWriter w;
  w.set_string("tokenizer.ggml.model", model);
  w.set_strings("tokenizer.ggml.tokens", texts), w.set_i32s("tokenizer.ggml.token_type", types);
  w.set_strings("tokenizer.ggml.merges", {});
  w.set_f32s("tokenizer.ggml.scores", std::vector<float>(tokens.size()));
  return w;
}

Result<Vocabulary> read(const GgufWriter& w) {
  test::TemporaryFolder folder;
  EXPECT_TRUE(w.write(folder / "v.gguf"));
  auto file = GgufFile::open(folder / "v.gguf");
  if (!file) return file.error();
  return read_vocabulary(*file);
}

TEST(ByteLevel, MapsEveryByteThereAndBack) {
  EXPECT_EQ(byte_level_text(" \n!"), "ĠĊ!");
  std::string all;
  for (int b = 0; b < 256; ++b) all += char(b);
  EXPECT_EQ(bytes_of_byte_level(byte_level_text(all)), all);
  EXPECT_FALSE(bytes_of_byte_level(" "));
  EXPECT_FALSE(bytes_of_byte_level("語"));
  EXPECT_FALSE(bytes_of_byte_level("\xc4"));
}

TEST(Vocabulary, OfASyntheticModel) {
  test::TemporaryFolder folder;
  ASSERT_TRUE(write_synthetic_model(folder / "m.gguf", {}));
  auto file = GgufFile::open(folder / "m.gguf");
  ASSERT_TRUE(file) << file.error().message;
  auto v = read_vocabulary(*file);
  ASSERT_TRUE(v) << v.error().message;
  EXPECT_EQ(v->size(), v->real_tokens + 3);
  EXPECT_EQ(v->texts[size_t(*v->eos)], "<|im_end|>");
  EXPECT_EQ(v->eot, v->eos);
  EXPECT_TRUE(v->ends_generation(*v->find("<|endoftext|>")));
  EXPECT_FALSE(v->ends_generation(*v->find("<|im_start|>")));
  EXPECT_TRUE(v->is_padding(TokenId(v->size() - 1)));
  EXPECT_FALSE(v->is_padding(*v->eos));
  EXPECT_NE(v->chat_template.find("<|im_start|>"), std::string::npos);
  EXPECT_FALSE(v->add_bos);
}

TEST(Vocabulary, EndTokensAreFoundByTextAndBecomeControl) {
  auto w = writer_of({{"a"}, {"<|im_end|>", TokenType::user_defined}, {"<|end|>", TokenType::control}, {"<|repo_name|>", TokenType::control}, {"<file_sep>"}});
  w.set_u32("tokenizer.ggml.eos_token_id", 0);
  auto v = read(w);
  ASSERT_TRUE(v) << v.error().message;
  EXPECT_EQ(v->end_ids, (std::vector<TokenId>{0, 1, 2, 3}));
  EXPECT_EQ(v->eot, 1);
  EXPECT_EQ(v->types[1], TokenType::control);
  auto parts = read(writer_of({{"<|end|>"}, {"<|return|>"}, {"<|call|>"}}));
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->end_ids, (std::vector<TokenId>{1, 2}));
}

TEST(Vocabulary, SpmDefaults) {
  auto v = read(writer_of({{"<unk>", TokenType::unknown}, {"<s>", TokenType::control}, {"</s>", TokenType::control}, {"<0x41>", TokenType::byte}, {"[PAD4]"}}, "llama"));
  ASSERT_TRUE(v) << v.error().message;
  EXPECT_EQ(v->kind, VocabularyKind::spm);
  EXPECT_EQ(v->unk, 0);
  EXPECT_EQ(v->bos, 1);
  EXPECT_EQ(v->eos, 2);
  EXPECT_TRUE(v->add_bos);
  EXPECT_TRUE(v->add_space_prefix);
  EXPECT_EQ(v->real_tokens, 4u);
}

TEST(Vocabulary, HostileEntriesAreRefused) {
  expect_error(read(writer_of({{"<0x-1>", TokenType::byte}}, "llama")), "token 0 is a byte but its text is '<0x-1>'");
  expect_error(read(writer_of({{"a"}, {"<0xZZ>", TokenType::byte}}, "llama")), "token 1 is a byte but its text is '<0xZZ>'");
  expect_error(read(writer_of({{"a", TokenType(9)}})), "token 0 has unknown type 9");
  expect_error(read(writer_of({})), "holds 0 tokens");
  expect_error(read(writer_of({{"a"}}, "bert")), "tokenizer 'bert' is not supported");
  auto w = writer_of({{"a"}});
  w.set_u32("tokenizer.ggml.eos_token_id", 1);
  expect_error(read(w), "'tokenizer.ggml.eos_token_id' is 1, but there are 1 tokens");
  w = writer_of({{"a"}});
  w.set_i32s("tokenizer.ggml.token_type", std::vector<int32_t>{1, 1});
  expect_error(read(w), "1 tokens but 2 token types");
  w = writer_of({{"a"}});
  w.set_strings("tokenizer.ggml.merges", std::vector<std::string>{"ab"});
  expect_error(read(w), "merge 0 is 'ab'");
  w = writer_of({{"a"}}, "llama");
  w.set_f32s("tokenizer.ggml.scores", std::vector<float>{1, 2});
  expect_error(read(w), "1 tokens but 2 scores");
}

TEST(CompareVocabularies, PaddingMayDifferAndRealTokensMayNot) {
  auto a = read(writer_of({{"a"}, {"b"}, {"[PAD2]", TokenType::unused}}));
  auto longer = read(writer_of({{"a"}, {"b"}, {"[PAD2]", TokenType::unused}, {"[PAD3]", TokenType::unused}}));
  auto text = read(writer_of({{"a"}, {"c"}}));
  auto type = read(writer_of({{"a"}, {"b", TokenType::user_defined}}));
  auto extra = read(writer_of({{"a"}, {"b"}, {"<think>", TokenType::user_defined}}));
  auto spm = read(writer_of({{"a"}, {"b"}}, "llama"));
  ASSERT_TRUE(a && longer && text && type && extra && spm);
  EXPECT_TRUE(compare_vocabularies(*a, *longer).compatible);
  EXPECT_TRUE(compare_vocabularies(*longer, *a).compatible);
  const auto differs = compare_vocabularies(*a, *text);
  EXPECT_FALSE(differs.compatible);
  EXPECT_EQ(differs.difference, "the target has 3 tokens (2 real), the draft 2 tokens (2 real); 1 ids differ, first: 1 is 'b' (normal) and 'c' (normal)");
  EXPECT_NE(compare_vocabularies(*a, *type).difference.find("'b' (normal) and 'b' (user-defined)"), std::string::npos);
  EXPECT_NE(compare_vocabularies(*a, *extra).difference.find("2 is '[PAD2]' (padding) and '<think>' (user-defined)"), std::string::npos);
  EXPECT_NE(compare_vocabularies(*a, *spm).difference.find("SentencePiece"), std::string::npos);
}

TEST(SyntheticModel, EveryArchitectureAndTypeIsAValidFile) {
  test::TemporaryFolder folder;
  const std::string path = folder / "m.gguf";
  for (const char* architecture : {"llama", "qwen2", "qwen3", "gemma3"})
    for (QuantType type : runnable_types()) {
      if (std::string_view(architecture) != "llama" && type != QuantType::q4_k && type != QuantType::q8_0) continue;
      SyntheticSpec spec;
      spec.architecture = architecture, spec.type = type, spec.width = 256, spec.feed_forward = 256, spec.layers = 1, spec.tied = type != QuantType::q4_k;
      auto wrote = write_synthetic_model(path, spec);
      ASSERT_TRUE(wrote) << wrote.error().message;
      auto file = GgufFile::open(path);
      ASSERT_TRUE(file) << file.error().message;
      EXPECT_TRUE(file->check_runnable());
      EXPECT_EQ(file->tensor("blk.0.ffn_down.weight").value()->type, type);
      EXPECT_EQ(file->find_tensor("output.weight") == nullptr, spec.tied);
      EXPECT_EQ(file->find_tensor("blk.0.attn_q.bias") != nullptr, spec.architecture == "qwen2");
      EXPECT_EQ(file->find_tensor("blk.0.attn_k_norm.weight") != nullptr, spec.architecture == "qwen3" || spec.architecture == "gemma3");
    }
}

TEST(SyntheticModel, RepeatsForASeedAndRefusesWhatItCannotMake) {
  test::TemporaryFolder folder;
  SyntheticSpec spec;
  spec.types["ffn_down"] = QuantType::q4_0;
  ASSERT_TRUE(write_synthetic_model(folder / "a.gguf", spec));
  ASSERT_TRUE(write_synthetic_model(folder / "b.gguf", spec));
  EXPECT_EQ(test::read_file(folder / "a.gguf"), test::read_file(folder / "b.gguf"));
  EXPECT_LT(std::filesystem::file_size(folder / "a.gguf"), 400u << 10);
  spec.seed = 2;
  ASSERT_TRUE(write_synthetic_model(folder / "b.gguf", spec));
  EXPECT_NE(test::read_file(folder / "a.gguf"), test::read_file(folder / "b.gguf"));
  spec.type = QuantType::q4_k;
  expect_error(write_synthetic_model(folder / "c.gguf", spec), "rows of 64 values, which Q4_K cannot hold");
  spec.architecture = "zebra";
  expect_error(write_synthetic_model(folder / "c.gguf", spec), "'zebra'");
}

}  // namespace
}  // namespace outrider
