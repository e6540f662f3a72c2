// Writes seeds for gguf_fuzz: small valid models of every kind, for the fuzzer to damage.
#include <cstdio>
#include <filesystem>

#include "gguf/writer.h"
#include "model/synthetic.h"

using namespace outrider;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: make_gguf_corpus FOLDER\n"), 2;
  const std::string folder = argv[1];
  std::filesystem::create_directories(folder);
  for (const char* architecture : {"llama", "qwen2", "qwen3"}) {
    SyntheticSpec spec;
    spec.architecture = architecture, spec.layers = 1, spec.width = 32, spec.feed_forward = 32, spec.heads = 1, spec.kv_heads = 1, spec.type = QuantType::q4_0;
    if (!write_synthetic_model(folder + "/" + architecture + ".gguf", spec)) return 1;
  }
  GgufWriter w;
  w.set_alignment(64);
  w.set_u32("a", 1), w.set_i32("b", -1), w.set_u64("c", 1), w.set_f32("d", 1), w.set_bool("e", true), w.set_u16("f", 2), w.set_string("g", "text");
  w.set_strings("h", std::vector<std::string>{"x", "", "yy"}), w.set_i32s("i", std::vector<int32_t>{1, 2}), w.set_f32s("j", std::vector<float>{1, 2});
  w.add_tensor("t", QuantType::q8_0, {32, 2}, GgufWriter::Bytes(68));
  w.add_tensor("u", QuantType::f32, {1}, GgufWriter::Bytes(4));
  if (!w.write(folder + "/keys.gguf")) return 1;
  GgufWriter spm;
  spm.set_string("tokenizer.ggml.model", "llama"), spm.set_strings("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "<s>", "</s>", "<0x41>", "▁a", "a"});
  spm.set_i32s("tokenizer.ggml.token_type", std::vector<int32_t>{2, 3, 3, 6, 1, 4}), spm.set_f32s("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, 0, -1, -2});
  spm.set_string("tokenizer.chat_template", "{{ messages }}");
  return spm.write(folder + "/spm.gguf") ? 0 : 1;
}
