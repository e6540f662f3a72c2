// The logits of a row do not depend on how the text before it was cut into passes, on the threads, or on the instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "model/model.h"
#include "model/pass.h"
#include "model/synthetic.h"

namespace outrider {
namespace {

struct Loaded {
  std::string path = (std::filesystem::temp_directory_path() / ("outrider-pass-" + std::to_string(getpid()) + ".gguf")).string();
  ThreadPool pool{2};
  std::unique_ptr<Model> model;

  explicit Loaded(const SyntheticSpec& spec) {
    const auto written = write_synthetic_model(path, spec);
    EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().message);
    auto loaded = load_model(path, pool);
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
    model = std::move(*loaded);
  }
  ~Loaded() { std::filesystem::remove(path); }
};

struct Reading {
  int chunk;        // rows of a pass
  int window;       // rows at the end that go through the window
  int threads;
  kernels::Isa isa = kernels::best_isa();
};

// The logits of the last `rows` tokens.
std::vector<float> read(const Model& model, std::span<const TokenId> text, int rows, kernels::KvType kv, const Reading& how) {
  ThreadPool pool(how.threads);
  auto pages = PagePool::make(model.kv_geometry(kv, kv), pages_for(int64_t(text.size())) + 2);
  auto pass = Pass::make(model.config(), kernels::kernels_for(how.isa), pool, 512, 512);
  EXPECT_TRUE(pages.ok() && pass.ok());
  Timeline timeline(*pages, int64_t(text.size()));
  std::vector<float> logits;
  const auto keep = [&](size_t end) {  // of the rows of this pass, which ends before position `end`
    for (int i = 0; i < pass->logit_rows(); ++i)
      if (end - size_t(pass->logit_rows() - i) >= text.size() - size_t(rows)) logits.insert(logits.end(), pass->logits(i).begin(), pass->logits(i).end());
  };
  const size_t in_pages = text.size() - size_t(how.window);
  for (size_t at = 0; at < in_pages; at += size_t(how.chunk)) {
    const auto part = text.subspan(at, std::min(size_t(how.chunk), in_pages - at));
    EXPECT_TRUE(timeline.room(int64_t(part.size())));
    pass->clear(), pass->extend(timeline, part, int(part.size()));
    model.forward(*pass);
    timeline.committed(part);
    keep(at + part.size());
  }
  if (how.window == 0) return logits;
  int parent = Timeline::kRoot;
  for (const TokenId token : text.subspan(in_pages)) parent = timeline.add_row(token, parent);
  pass->clear(), pass->window(timeline);
  model.forward(*pass);
  keep(text.size());
  return logits;
}

std::vector<TokenId> some_text(int length) {
  std::vector<TokenId> text;
  for (int i = 0; i < length; ++i) text.push_back(TokenId((i * 7919 + i / 3) % 256));
  return text;
}

void expect_one_answer(const SyntheticSpec& spec, std::initializer_list<int> lengths) {
  constexpr int kRows = 9;
  const Loaded loaded(spec);
  for (const int length : lengths) {
    const auto text = some_text(length);
    for (const kernels::KvType kv : {kernels::KvType::f16, kernels::KvType::q8_0}) {
      const auto expect = read(*loaded.model, text, kRows, kv, {.chunk = 64, .window = 0, .threads = 1});
      ASSERT_EQ(expect.size(), size_t(kRows) * size_t(loaded.model->config().vocabulary));
      const Reading readings[] = {{1, 0, 1}, {1, 0, 3}, {7, 0, 2}, {512, 0, 2}, {64, 1, 1}, {64, 8, 1}, {64, 8, 4}, {33, 9, 2}, {512, 32, 3},
                                  {64, 8, 2, kernels::Isa::scalar}, {100, 0, 2, kernels::Isa::avx2}, {64, 8, 2, kernels::Isa::avxvnni}};
      for (const Reading& how : readings) {
        if (!kernels::isa_supported(how.isa) || (how.isa == kernels::Isa::scalar && length > 100)) continue;
        const auto got = read(*loaded.model, text, kRows, kv, how);
        ASSERT_EQ(got.size(), expect.size()) << "chunk " << how.chunk << " window " << how.window;
        ASSERT_EQ(std::memcmp(got.data(), expect.data(), got.size() * 4), 0)
            << spec.architecture << " length " << length << " kv " << int(kv) << " chunk " << how.chunk << " window " << how.window << " threads " << how.threads << " isa " << int(how.isa);
      }
    }
  }
}

TEST(Pass, LogitsDoNotDependOnChunksThreadsOrInstructionSet) {
  expect_one_answer({.architecture = "qwen2", .seed = 21, .width = 256, .feed_forward = 512, .heads = 4, .kv_heads = 2, .tied = false, .type = QuantType::q4_k, .types = {{"output", QuantType::q6_k}}}, {70, 560});
  expect_one_answer({.architecture = "qwen3", .seed = 22, .width = 96, .feed_forward = 160, .heads = 7, .kv_heads = 1, .head_dim = 64, .type = QuantType::q5_0, .types = {{"ffn_up", QuantType::f16}}}, {70, 560});
}

TEST(Pass, NorDoTheyWhereALayerSlides) {
  SyntheticSpec spec{.seed = 23, .layers = 3, .width = 128, .sliding_window = 5, .sliding_period = 2};
  for (const uint32_t window : {5u, 65u}) spec.sliding_window = window, expect_one_answer(spec, {70, 560});
  expect_one_answer({.architecture = "gemma3", .seed = 25, .layers = 7, .head_dim = 32, .sliding_window = 40}, {70, 560});
  spec.sliding_window = 520, expect_one_answer(spec, {1030});  // rows that see two spans and rows that see three
}

TEST(Pass, WhatLiesBeyondAllHorizonsDoesNotMatter) {
  constexpr int kWindow = 20, kLayers = 3, kLength = 70, kReach = kLayers * (kWindow - 1);
  const Loaded loaded({.seed = 24, .layers = kLayers, .sliding_window = kWindow, .sliding_period = kLayers + 1});
  const auto last_row = [&](int changed) {
    auto text = some_text(kLength);
    if (changed >= 0) text[size_t(changed)] ^= 1;
    return read(*loaded.model, text, 1, kernels::KvType::f16, {.chunk = 64, .window = 0, .threads = 1});
  };
  const auto expect = last_row(-1);
  EXPECT_EQ(last_row(0), expect);
  EXPECT_EQ(last_row(kLength - 1 - kReach - 1), expect);
  EXPECT_NE(last_row(kLength - 1 - kReach), expect);
}

}  // namespace
}  // namespace outrider
