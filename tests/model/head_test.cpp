// A head restricted to some tiles gives the bits of the whole one there and −infinity elsewhere.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "model/model.h"
#include "model/pass.h"
#include "model/synthetic.h"
#include "support/files.h"

namespace outrider {
namespace {

constexpr kernels::KvType kF16 = kernels::KvType::f16;

struct Loaded {
  test::TemporaryFolder folder;
  ThreadPool pool;
  std::unique_ptr<Model> model;
  std::optional<PagePool> pages;
  std::optional<Timeline> timeline;
  std::optional<Pass> pass;

  explicit Loaded(int threads) : pool(threads) {
    EXPECT_TRUE(write_synthetic_model(folder / "m.gguf", {.seed = 31, .type = QuantType::q4_1}).ok());
    model = std::move(*load_model(folder / "m.gguf", pool));
    pages.emplace(std::move(*PagePool::make(model->kv_geometry(kF16, kF16), 3)));
    timeline.emplace(*pages, 64);
    pass.emplace(std::move(*Pass::make(model->config(), kernels::kernels_for(kernels::best_isa()), pool, 16, 16)));
  }
  int tiles() const { return int((model->config().vocabulary + 15) / 16); }

  std::vector<float> logits(int rows, int first_token) {  // of a pass over `rows` tokens
    timeline->clear_window();
    for (int i = 0, parent = Timeline::kRoot; i < rows; ++i) parent = timeline->add_row((first_token + 37 * i) % 256, parent);
    pass->clear(), pass->window(*timeline);
    model->forward(*pass);
    std::vector<float> all;
    for (int i = 0; i < rows; ++i) all.insert(all.end(), pass->logits(i).begin(), pass->logits(i).end());
    return all;
  }
};

void expect_restricted(Loaded& l, std::span<const int32_t> tiles, int rows, int first_token) {
  l.pass->restrict_head(tiles);
  const auto some = l.logits(rows, first_token);
  l.pass->restrict_head({});
  auto expected = l.logits(rows, first_token);
  l.pass->restrict_head(tiles);
  const int64_t vocabulary = l.model->config().vocabulary;
  for (int64_t i = 0; i < int64_t(expected.size()); ++i)
    if (!std::binary_search(tiles.begin(), tiles.end(), int32_t(i % vocabulary / 16))) expected[size_t(i)] = -INFINITY;
  EXPECT_EQ(std::memcmp(some.data(), expected.data(), some.size() * sizeof(float)), 0) << rows << " rows, " << tiles.size() << " tiles, " << l.pool.size() << " threads";
}

TEST(Head, NamedTilesHaveTheBitsOfTheWholeHead) {
  for (const int threads : {1, 2}) {
    Loaded l(threads);
    ASSERT_GE(l.tiles(), 16);
    const int32_t last = l.tiles() - 1;
    const std::vector<int32_t> lists[] = {{0}, {last}, {0, 1, 2, 3, 4, 5, 9, 11, 12}, {3, 5, 7, last}};
    for (const auto& tiles : lists)
      for (const int rows : {1, 7, 16}) expect_restricted(l, tiles, rows, 5);
  }
}

TEST(Head, SelectionsMayGrowAndShrinkBetweenPasses) {
  Loaded l(2);
  const std::vector<int32_t> lists[] = {{1, 4}, {1, 2, 4, 8}, {0, 1, 2, 4, 8, 9}, {2, 9}, {3}, {1, 4}};
  std::vector<std::vector<float>> whole;
  for (int i = 0; i < 6; ++i) whole.push_back(l.logits(3 + i, i));
  for (int i = 0; i < 6; ++i) {
    l.pass->restrict_head(lists[i]);
    const auto some = l.logits(3 + i, i);
    const int64_t vocabulary = l.model->config().vocabulary;
    for (int64_t at = 0; at < int64_t(some.size()); ++at) {
      const bool named = std::binary_search(lists[i].begin(), lists[i].end(), int32_t(at % vocabulary / 16));
      ASSERT_EQ(some[size_t(at)], named ? whole[size_t(i)][size_t(at)] : -INFINITY) << "selection " << i << ", logit " << at;
    }
  }
  l.pass->restrict_head({});
  EXPECT_EQ(l.logits(3, 0), whole[0]);
}

}  // namespace
}  // namespace outrider
