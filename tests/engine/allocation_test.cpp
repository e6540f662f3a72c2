// Law 5: the step loop allocates nothing. Every operator new and malloc of this program is counted while steps run.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "engine/engine.h"
#include "model/synthetic.h"
#include "support/drafters.h"
#include "support/files.h"

// GCC 12 takes our delete for one that does not belong to our new, where it has inlined both.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace {
std::atomic<int64_t> g_allocations{0};
std::atomic<int64_t> g_live_bytes{0};  // of operator new

void* counted(void* p) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  g_live_bytes.fetch_add(int64_t(malloc_usable_size(p)), std::memory_order_relaxed);
  return p;
}
void give_back(void* p) {
  g_live_bytes.fetch_sub(int64_t(malloc_usable_size(p)), std::memory_order_relaxed);
  std::free(p);
}
}

void* operator new(size_t bytes) {
  if (void* p = std::malloc(bytes ? bytes : 1)) return counted(p);
  throw std::bad_alloc();
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  const size_t a = size_t(alignment);
  if (void* p = std::aligned_alloc(a, (bytes + a - 1) / a * a)) return counted(p);
  throw std::bad_alloc();
}
// Sanitizers have arrays of their own, which would not come here.
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new[](size_t bytes, std::align_val_t alignment) { return operator new(bytes, alignment); }
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete[](void* p, size_t) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p) noexcept { give_back(p); }
void operator delete(void* p, size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { give_back(p); }

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers have a malloc of their own
extern "C" void* __libc_malloc(size_t);
extern "C" void* malloc(size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
#endif

namespace outrider {
namespace {

struct Fixture {
  test::TemporaryFolder folder;
  ThreadPool pool{2};
  SteadyClock clock;
  std::unique_ptr<Model> model;
  const kernels::Kernels& kernels = kernels::kernels_for(kernels::best_isa());

  Fixture() {
    SyntheticSpec spec;
    spec.seed = 9;
    EXPECT_TRUE(write_synthetic_model(folder / "m.gguf", spec).ok());
    auto loaded = load_model(folder / "m.gguf", pool);
    EXPECT_TRUE(loaded.ok());
    model = std::move(*loaded);
  }

  std::unique_ptr<Drafter> drafter(const std::string& kind) {
    const test::Drafters with{kernels, pool, clock, 600, 2};
    if (kind == "lookup" || kind == "recycle") return with.by_source(kind, 8, 3);
    if (kind == "model") return with.by_model(*model, 4, 0.2f);
    if (kind == "all" || kind == "automatic") return with.by_all(*model, 8, kind == "automatic");
    return nullptr;
  }
};

SamplingSettings settings(const std::string& name) {
  SamplingSettings s;
  if (name == "greedy") s.temperature = 0;
  if (name == "everything") s.top_k = 40, s.min_p = 0.01f, s.repeat_penalty = 1.05f, s.logit_bias = {{7, -100}, {8, 1}};
  if (name == "temperature alone") s.top_p = 1;
  return s;
}

// Two requests side by side; those of the first steps may still find their places.
TEST(Law5, StepsAllocateNothing) {
  Fixture f;
  for (const char* kind : {"off", "lookup", "recycle", "model", "all", "automatic"}) {
    for (const char* sampling : {"greedy", "default", "everything", "temperature alone", "by rejection"}) {
      auto engine = Engine::make(*f.model, f.kernels, f.pool, f.clock, f.drafter(kind), {.context = 600, .requests = 2});
      ASSERT_TRUE(engine.ok());
      int64_t last = 0;
      for (int r = 0; r < 2; ++r) {
        Request request;
        for (int i = 0; i < 40; ++i) request.prompt.push_back(97 + i % (7 + r));
        request.max_tokens = 400, request.ignore_end = true, request.sampling = settings(sampling);
        if (std::string_view(sampling) == "by rejection") request.acceptance = AcceptRule::rejection;
        const auto id = (*engine)->submit(request);
        ASSERT_TRUE(id.ok());
        last = *id;
      }
      for (int warm = 0; warm < 6; ++warm) (*engine)->step();
      const int64_t before = g_allocations.load();
      int steps = 0;
      while ((*engine)->answer(last).tokens.size() < 300 && (*engine)->answer(last - 1).tokens.size() < 300) (*engine)->step(), ++steps;
      EXPECT_EQ(g_allocations.load() - before, 0) << steps << " steps, drafter " << kind << ", sampling " << sampling;
      EXPECT_GT(steps, 20);
    }
  }
}

// What the memory plan says of those who choose tokens is what they take: never less, and little more where they take all they may.
TEST(Plan, ChoosingTokensTakesWhatIsPlanned) {
  constexpr int32_t kRow = 50'000;
  const auto& kernels = kernels::kernels_for(kernels::best_isa());
  const auto takes = [](auto make) {
    const int64_t before = g_live_bytes.load();
    const auto kept = make();
    return size_t(g_live_bytes.load() - before);
  };
  for (const char* name : {"greedy", "default", "everything", "temperature alone"})
    EXPECT_LE(takes([&] { return Sampler(settings(name), kRow, {}, kernels); }), Sampler::most_bytes(kRow) + 8192) << name;
  EXPECT_GE(takes([&] { return Sampler(settings("everything"), kRow, {}, kernels); }), Sampler::most_bytes(kRow));
  EXPECT_NEAR(double(takes([&] { return TopFinder(kRow); })), double(TopFinder::bytes(kRow)), 8192);
  EXPECT_NEAR(double(takes([&] { return std::make_unique<DrawnRows>(kRow); })), double(DrawnRows::bytes(kRow)), 16384);
}

TEST(Plan, RejectionAndLearningDraftersTakeMore) {
  Fixture f;
  const auto plan = plan_model(f.folder / "m.gguf");
  ASSERT_TRUE(plan.ok());
  const EngineOptions one{.context = 600}, two{.context = 600, .requests = 2};
  const size_t row = size_t(plan->config.vocabulary), least = Engine::choosing_bytes(*plan, one, 2, false, false);
  EXPECT_EQ(least, Sampler::most_bytes(int64_t(row)));
  EXPECT_EQ(Engine::choosing_bytes(*plan, two, 2, false, false), 2 * least);
  EXPECT_EQ(Engine::choosing_bytes(*plan, one, 2, false, true), least + row * sizeof(TokenProbability));
  EXPECT_EQ(Engine::choosing_bytes(*plan, one, 2, true, false), least + 2 * TopFinder::bytes(int64_t(row)));
  const ModelWriter::Options writer{.context = 600};
  EXPECT_EQ(ModelWriter::bytes(*plan, writer, int64_t(row), true) - ModelWriter::bytes(*plan, writer, int64_t(row), false), DrawnRows::bytes(row));
}

// That the count sees what it should see.
TEST(Law5, AllocationsAreCounted) {
  const int64_t before = g_allocations.load();
  struct alignas(128) Wide { char bytes[128]; };
  const auto wide = std::make_unique<Wide>();
  const std::vector<int> some(100);
  EXPECT_GE(g_allocations.load() - before, 2);
  EXPECT_NE(wide->bytes, nullptr);
}

}  // namespace
}  // namespace outrider
