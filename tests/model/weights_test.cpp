// Matrices that are narrowed while they are loaded are those of a file that was encoded again before.
#include <gtest/gtest.h>

#include <cstring>

#include "gguf/writer.h"
#include "model/model.h"
#include "model/pass.h"
#include "model/synthetic.h"
#include "quant/decode.h"
#include "quant/encode_fast.h"
#include "support/files.h"

namespace outrider {
namespace {

GgufWriter::Bytes bytes_of(const GgufFile& file, const TensorInfo& tensor) {
  GgufWriter::Bytes bytes(tensor.size_bytes);
  EXPECT_TRUE(file.read(tensor, 0, bytes).ok());
  return bytes;
}

GgufWriter::Bytes narrowed(const GgufFile& file, const TensorInfo& tensor, QuantType type) {
  std::vector<float> values(tensor.elements());
  decode(tensor.type, bytes_of(file, tensor).data(), values.size(), values.data());
  GgufWriter::Bytes out(*bytes_for(type, values.size()));
  encode_fast(type, values.data(), values.size(), out.data());
  return out;
}

// The file with the matrices that should be narrowed.
void write_narrow(const std::string& from, const std::string& path, QuantType type, std::span<const std::string_view> kept) {
  const auto file = GgufFile::open(from);
  ASSERT_TRUE(file.ok());
  GgufWriter out;
  out.copy_keys(*file);
  for (const TensorInfo& t : file->tensors()) {
    const bool keep = t.rows() == 1 || std::any_of(kept.begin(), kept.end(), [&](std::string_view name) { return t.name.find(name) != t.name.npos; });
    out.add_tensor(t.name, keep ? t.type : type, t.dims, keep ? bytes_of(*file, t) : narrowed(*file, t, type));
  }
  ASSERT_TRUE(out.write(path).ok());
}

std::vector<float> logits_of(const Model& model, ThreadPool& pool) {
  auto pages = PagePool::make(model.kv_geometry(kernels::KvType::f16, kernels::KvType::f16), 2);
  auto pass = Pass::make(model.config(), kernels::kernels_for(kernels::best_isa()), pool, 8, 8);
  Timeline timeline(*pages, 32);
  for (int i = 0, parent = Timeline::kRoot; i < 8; ++i) parent = timeline.add_row(40 * i % 256, parent);
  pass->window(timeline);
  model.forward(*pass);
  std::vector<float> all;
  for (int i = 0; i < 8; ++i) all.insert(all.end(), pass->logits(i).begin(), pass->logits(i).end());
  return all;
}

TEST(Weights, NarrowingWhileLoadingEqualsNarrowingTheFile) {
  const test::TemporaryFolder folder;
  const std::string wide = folder / "wide.gguf", narrow = folder / "narrow.gguf";
  SyntheticSpec spec{.seed = 41, .width = 256, .feed_forward = 320, .heads = 4, .tied = false, .type = QuantType::q8_0};
  spec.types = {{"attn_q", QuantType::q4_k}, {"attn_v", QuantType::q5_0}, {"ffn_up", QuantType::bf16}, {"output", QuantType::q6_k}};
  ASSERT_TRUE(write_synthetic_model(wide, spec).ok());
  for (const QuantType type : {QuantType::q4_0, QuantType::iq4_nl}) {
    const std::string_view kept[] = {"token_embd", "attn_q."};  // only looked up; four bits already
    write_narrow(wide, narrow, type, kept);
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      auto loaded = load_model(wide, pool, {}, {.narrow = type}), expected = load_model(narrow, pool);
      ASSERT_TRUE(loaded.ok() && expected.ok());
      EXPECT_EQ(logits_of(**loaded, pool), logits_of(**expected, pool)) << traits(type).name;
    }
    const auto plan = plan_model(wide, {.narrow = type}), expected = plan_model(narrow), whole = plan_model(wide);
    ASSERT_TRUE(plan.ok() && expected.ok() && whole.ok());
    EXPECT_EQ(plan->weight_bytes, expected->weight_bytes);
    EXPECT_LT(plan->weight_bytes, whole->weight_bytes);
  }
}

TEST(Weights, ThePlanIsTheAllocation) {
  const test::TemporaryFolder folder;
  ThreadPool pool(2);
  ASSERT_TRUE(write_synthetic_model(folder / "m.gguf", {.type = QuantType::q8_0}).ok());
  const auto file = GgufFile::open(folder / "m.gguf");
  ASSERT_TRUE(file.ok());
  for (const auto& narrow : {std::optional<QuantType>{}, std::optional(QuantType::q4_0), std::optional(QuantType::q4_k)}) {
    WeightLoader loader(*file, {.narrow = narrow});
    kernels::Matrix up, down;
    loader.matrix("blk.0.ffn_up.weight", 128, 64, &up), loader.table("blk.0.ffn_down.weight", 64, 128, &down);
    const auto memory = loader.load(pool, {});
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ(memory->size(), loader.bytes());
    EXPECT_EQ(memory->size(), size_t(up.layout.bytes() + down.layout.bytes()));
    EXPECT_EQ(up.layout.type, narrow == QuantType::q4_0 ? QuantType::q4_0 : QuantType::q8_0) << "rows of 64 do not fill blocks of 256";
    EXPECT_EQ(down.layout.type, QuantType::q8_0);
  }
}

}  // namespace
}  // namespace outrider
