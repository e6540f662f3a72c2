// Any bytes as text, in segments with and without leave for control tokens: every byte comes back, and no control token comes from a segment without.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "gguf/writer.h"
#include "model/synthetic.h"
#include "text/stream.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

using namespace outrider;

namespace {

Vocabulary bpe_vocabulary(const std::string& path) {
  SyntheticSpec spec;
  spec.layers = 1, spec.width = 32, spec.feed_forward = 32, spec.heads = 1, spec.kv_heads = 1;
  if (!write_synthetic_model(path, spec)) std::abort();
  return std::move(read_vocabulary(std::move(GgufFile::open(path)).value()).value());
}

Vocabulary spm_vocabulary(const std::string& path) {
  std::vector<std::string> texts{"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types{2, 3, 3};
  for (int b = 0; b < 256; ++b) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", b);
    texts.push_back(text), types.push_back(6);
  }
  for (const char* piece : {"▁", "a", "b", "e", "<", "s", ">", "/", "▁a", "ab", "ba", "a▁b", "</", "</s", "s>", "▁▁b", "é"}) texts.push_back(piece), types.push_back(1);
  for (const char* piece : {"  ", "\n\n", "<b>"}) texts.push_back(piece), types.push_back(4);
  std::vector<float> scores;
  for (size_t i = 0; i < texts.size(); ++i) scores.push_back(-float(i * 7 % 13));
  GgufWriter w;
  w.set_string("tokenizer.ggml.model", "llama");
  w.set_strings("tokenizer.ggml.tokens", texts), w.set_i32s("tokenizer.ggml.token_type", types), w.set_f32s("tokenizer.ggml.scores", scores);
  w.set_bool("tokenizer.ggml.add_space_prefix", false);
  if (!w.write(path)) std::abort();
  return std::move(read_vocabulary(std::move(GgufFile::open(path)).value()).value());
}

struct Subject { Vocabulary vocabulary; Tokenizer tokenizer; };

const std::vector<Subject>& subjects() {
  static const auto all = [] {
    const std::string path = "/tmp/outrider-fuzz-" + std::to_string(getpid()) + ".gguf";
    std::vector<Subject> out;
    for (const char* pre : {"qwen2", "qwen35", "llama-bpe", "gpt-2", "smollm", "default"}) {
      Vocabulary v = bpe_vocabulary(path);
      v.pre = pre;
      out.push_back({v, std::move(Tokenizer::make(v).value())});
    }
    Vocabulary v = spm_vocabulary(path);
    out.push_back({v, std::move(Tokenizer::make(v).value())});
    ::unlink(path.c_str());
    return out;
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const Subject& subject = subjects()[data[0] % subjects().size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 3, size - 3);
  const size_t cut = text.empty() ? 0 : (size_t(data[1]) * text.size()) >> 8;
  const TextSegment segments[] = {{text.substr(0, cut), bool(data[2] & 1)}, {text.substr(cut), bool(data[2] & 2)}};
  const auto ids = subject.tokenizer.encode(segments, false);
  if (!(data[2] & 3))
    for (TokenId id : ids)
      if (subject.vocabulary.types[size_t(id)] == TokenType::control) std::abort();
  const std::string back = subject.tokenizer.decode(ids, true);
  const bool has_mark = subject.vocabulary.kind == VocabularyKind::spm && text.find("\xe2\x96\x81") != std::string_view::npos;
  if (back != text && !has_mark) std::abort();

  TextStream stream(subject.tokenizer, {"ab", "\n\n", std::string(text.substr(0, cut % 5))}, true);
  for (TokenId id : ids)
    if (!is_valid_utf8(stream.push(id))) std::abort();
  if (!is_valid_utf8(stream.flush())) std::abort();
  return 0;
}
