// Law 5: the step loop allocates nothing. Every operator new of this program is counted while steps run.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "draft/cascade.h"
#include "engine/engine.h"
#include "model/synthetic.h"
#include "support/files.h"

namespace {
std::atomic<int64_t> g_allocations{0};
}

void* operator new(size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace outrider {
namespace {

TEST(Law5, StepsAllocateNothing) {
  test::TemporaryFolder folder;
  SyntheticSpec spec;
  spec.seed = 9;
  ASSERT_TRUE(write_synthetic_model(folder / "m.gguf", spec).ok());
  ThreadPool pool(2);
  auto model = load_model(folder / "m.gguf", pool);
  ASSERT_TRUE(model.ok());
  const auto& kernels = kernels::kernels_for(kernels::best_isa());
  for (const float temperature : {0.0f, 0.8f}) {
    auto by_model = ModelDrafter::make(**model, kernels, pool, {.limits = {.max = 4, .min = 0, .min_probability = 0.2f, .paced = false}, .context = 600});
    ASSERT_TRUE(by_model.ok());
    NgramDrafter::Options ngram;
    ngram.shortest_match = 2, ngram.context = 600;
    SteadyClock clock;
    auto engine = Engine::make(**model, kernels, pool, clock, std::make_unique<Cascade>(std::make_unique<NgramDrafter>(ngram), std::move(*by_model), 3), {.context = 600});
    ASSERT_TRUE(engine.ok());
    Request request;
    for (int i = 0; i < 40; ++i) request.prompt.push_back(97 + i % 7);
    request.max_tokens = 400, request.ignore_end = true;
    request.sampling.temperature = temperature;
    request.sampling.repeat_penalty = 1.05f;
    const auto id = (*engine)->submit(request);
    ASSERT_TRUE(id.ok());
    for (int warm = 0; warm < 6; ++warm) (*engine)->step();
    const int64_t before = g_allocations.load();
    int steps = 0;
    while ((*engine)->answer(*id).tokens.size() < 380) (*engine)->step(), ++steps;
    EXPECT_EQ(g_allocations.load() - before, 0) << steps << " steps at temperature " << temperature;
    EXPECT_GT(steps, 20);
  }
}

}  // namespace
}  // namespace outrider
