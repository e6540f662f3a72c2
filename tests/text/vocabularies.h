#pragma once
// Small vocabularies for tests of the text floor.
#include <gtest/gtest.h>

#include "gguf/writer.h"
#include "model/synthetic.h"
#include "model/vocabulary.h"
#include "support/files.h"

namespace outrider::test {

inline Vocabulary read_back(const std::string& path) {
  auto file = GgufFile::open(path);
  EXPECT_TRUE(file) << file.error().message;
  auto vocabulary = read_vocabulary(*file);
  EXPECT_TRUE(vocabulary) << vocabulary.error().message;
  return std::move(*vocabulary);
}

// Byte-level BPE with ChatML tokens; see model/synthetic.h.
inline Vocabulary bpe_vocabulary() {
  TemporaryFolder folder;
  EXPECT_TRUE(write_synthetic_model(folder / "m.gguf", {.layers = 1, .width = 32, .feed_forward = 32, .heads = 2, .kv_heads = 1}));
  return read_back(folder / "m.gguf");
}

// SentencePiece: <unk> <s> </s>, all bytes, and the given pieces with the given scores.
inline Vocabulary spm_vocabulary(const std::vector<std::pair<std::string, float>>& pieces, bool space_prefix) {
  std::vector<std::string> texts{"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types{2, 3, 3};
  std::vector<float> scores{0, 0, 0};
  for (int b = 0; b < 256; ++b) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", b);
    texts.push_back(text), types.push_back(6), scores.push_back(0);
  }
  for (const auto& [text, score] : pieces) texts.push_back(text), types.push_back(text.starts_with("<u:") ? 4 : 1), scores.push_back(score);
  GgufWriter w;
  w.set_string("tokenizer.ggml.model", "llama");
  w.set_strings("tokenizer.ggml.tokens", texts), w.set_i32s("tokenizer.ggml.token_type", types), w.set_f32s("tokenizer.ggml.scores", scores);
  w.set_bool("tokenizer.ggml.add_space_prefix", space_prefix);
  TemporaryFolder folder;
  EXPECT_TRUE(w.write(folder / "m.gguf"));
  return read_back(folder / "m.gguf");
}

}  // namespace outrider::test
