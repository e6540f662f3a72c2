// Law 1 on small random models: the same tokens with any drafter, draft length, thread count, instruction set, neighbour or cache.
#include <gtest/gtest.h>

#include <filesystem>

#include "draft/fuzz.h"
#include "engine/engine.h"
#include "model/synthetic.h"
#include "support/drafters.h"

namespace outrider {
namespace {

struct Fixture {
  std::string path;
  ThreadPool one{1}, two{2};
  std::unique_ptr<Model> model;
  SteadyClock clock;

  explicit Fixture(const SyntheticSpec& spec) {
    path = (std::filesystem::temp_directory_path() / ("outrider-law1-" + spec.architecture + "-" + std::to_string(spec.seed) + "-" + std::to_string(getpid()) + ".gguf")).string();
    const auto written = write_synthetic_model(path, spec);
    EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().message);
    auto loaded = load_model(path, two);
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
    if (loaded) model = std::move(*loaded);
  }
  ~Fixture() { std::filesystem::remove(path); }

  std::vector<TokenId> prompt(int n, uint32_t seed) const {
    std::vector<TokenId> p;
    for (int i = 0; i < n; ++i) seed = seed * 1664525u + 1013904223u, p.push_back(TokenId((seed >> 8) % 256));
    return p;
  }

  std::unique_ptr<Engine> engine(std::unique_ptr<Drafter> drafter, EngineOptions options = {.context = 512}, int threads = 2, kernels::Isa isa = kernels::best_isa()) {
    auto e = Engine::make(*model, kernels::kernels_for(isa), threads == 1 ? one : two, clock, std::move(drafter), options);
    EXPECT_TRUE(e.ok()) << (e.ok() ? "" : e.error().message);
    return std::move(*e);
  }

  test::Drafters drafters() { return {kernels::kernels_for(kernels::best_isa()), two, clock}; }
  std::unique_ptr<Drafter> self(int max, kernels::KvType kv = kernels::KvType::f16) { return drafters().by_model(*model, max, 0, kv); }
};

Request make_request(std::vector<TokenId> prompt, float temperature, int64_t max_tokens, uint64_t seed = 7) {
  Request r;
  r.prompt = std::move(prompt), r.max_tokens = max_tokens, r.ignore_end = true;
  r.sampling.temperature = temperature, r.sampling.seed = seed;
  return r;
}

std::vector<TokenId> run(Engine& engine, const Request& request, RequestAccount* account = nullptr) {
  const auto id = engine.submit(request);
  EXPECT_TRUE(id.ok()) << (id.ok() ? "" : id.error().message);
  while (!engine.idle()) engine.step();
  const Engine::Answer answer = engine.answer(*id);
  engine.release(*id);
  if (account) *account = answer.account;
  const RequestAccount& a = answer.account;
  EXPECT_EQ(a.emitted, int64_t(answer.tokens.size()));
  EXPECT_EQ(a.emitted, a.rounds + a.accepted - a.cut);
  EXPECT_EQ(a.drafted, a.accepted + a.rejected + a.untested);
  return answer.tokens;
}

std::vector<SyntheticSpec> specs() {
  return {{.architecture = "llama", .seed = 3, .type = QuantType::q4_1},
          {.architecture = "qwen2", .seed = 4, .tied = false, .type = QuantType::q8_0},
          {.architecture = "qwen3", .seed = 5, .width = 256, .feed_forward = 512, .heads = 4, .kv_heads = 1, .head_dim = 64, .context = 2048, .rope_base = 10000, .tied = true, .type = QuantType::q4_k, .types = {{"ffn_down", QuantType::q6_k}}},
          {.architecture = "llama", .seed = 6, .width = 96, .feed_forward = 160, .heads = 6, .kv_heads = 2, .type = QuantType::q5_0, .types = {{"token_embd", QuantType::bf16}, {"attn_q", QuantType::f16}}},
          {.architecture = "gemma3", .seed = 7, .layers = 3, .head_dim = 32, .sliding_window = 40, .sliding_period = 3}};
}

class Law1 : public testing::TestWithParam<int> {
 protected:
  Fixture f{specs()[size_t(GetParam())]};
};

// What one engine learned changes what another drafts, and nothing of what it says.
TEST_P(Law1, ExperienceChangesNoText) {
  if (!f.model) GTEST_SKIP() << "the model did not load";
  const Request request = make_request(f.prompt(40, 2), 0.8f, 60);
  const auto make = [&] { return f.engine(f.drafters().by_all(*f.model, 12, true)); };
  const auto first = make(), second = make();
  const auto plain = run(*f.engine(nullptr), request);
  EXPECT_EQ(run(*first, request), plain);
  const auto learned = first->experience();
  EXPECT_NE(learned, second->experience());
  ASSERT_TRUE(second->recall(learned));
  EXPECT_EQ(second->experience(), learned);
  EXPECT_EQ(run(*second, request), plain);
  EXPECT_FALSE(make()->recall(std::span(learned).first(learned.size() - 1)));
  EXPECT_FALSE(f.engine(f.drafters().by_source("lookup", 5))->recall(learned));
  std::vector<std::byte> nonsense(learned.size(), std::byte(0xc5));
  const auto third = make();
  third->recall(nonsense);
  EXPECT_EQ(run(*third, request), plain);
}

TEST_P(Law1, NoDrafterChangesTheText) {
  for (const float temperature : {0.0f, 0.8f}) {
    for (const auto kv : {kernels::KvType::f16, kernels::KvType::q8_0}) {
      if (kv == kernels::KvType::q8_0 && f.model->config().head_dim % 32) continue;
      const EngineOptions options{.context = 512, .k_type = kv, .v_type = kv};
      auto request = make_request(f.prompt(75, 11), temperature, 90);
      if (temperature > 0) request.sampling.repeat_penalty = 1.1f, request.sampling.presence_penalty = 0.3f;
      const auto plain = run(*f.engine(nullptr, options), request);
      ASSERT_EQ(plain.size(), 90u);
      for (const int max : {1, 2, 3, 7, 8, 16}) {
        RequestAccount account;
        EXPECT_EQ(run(*f.engine(f.self(max, kv), options), request, &account), plain) << "self " << max << " T " << temperature;
        EXPECT_EQ(account.rejected, 0) << "a model that drafts for itself is always right";
        EXPECT_GT(account.accepted, 0);
        request.prediction = std::vector<TokenId>(plain.begin() + 3, plain.end());
        for (const SourceKind& source : source_kinds())
          EXPECT_EQ(run(*f.engine(f.drafters().by_source(source.name, max, 3), options), request), plain) << source.name << " " << max;
        for (const bool automatic : {false, true})
          EXPECT_EQ(run(*f.engine(f.drafters().by_all(*f.model, max, automatic), options), request), plain) << "all " << max << " " << automatic;
      }
      for (uint64_t seed = 1; seed <= 12; ++seed)
        EXPECT_EQ(run(*f.engine(std::make_unique<FuzzDrafter>(seed, 300, plain), options), request), plain) << "fuzz " << seed << " T " << temperature;
    }
  }
}

TEST_P(Law1, ThreadsAndInstructionSetsChangeNothing) {
  const auto request = make_request(f.prompt(70, 5), 0.9f, 40);
  const auto plain = run(*f.engine(nullptr), request);
  for (const auto isa : kernels::kAllIsas) {
    if (!kernels::isa_supported(isa)) continue;
    for (const int threads : {1, 2}) EXPECT_EQ(run(*f.engine(std::make_unique<FuzzDrafter>(9, 300, plain), {.context = 512}, threads, isa), request), plain) << int(isa) << " " << threads;
  }
}

TEST_P(Law1, ChunksAndCachedPrefixesChangeNothing) {
  auto request = make_request(f.prompt(150, 8), 0.7f, 30);
  const auto plain = run(*f.engine(nullptr), request);
  for (const int chunk : {33, 64, 100}) EXPECT_EQ(run(*f.engine(nullptr, {.context = 512, .prompt_rows = chunk}), request), plain) << chunk;
  auto engine = f.engine(f.self(4), {.context = 512, .kept_prefixes = 2});
  RequestAccount account;
  EXPECT_EQ(run(*engine, request, &account), plain);
  EXPECT_EQ(account.cached_tokens, 0);
  for (int again = 0; again < 3; ++again) {
    EXPECT_EQ(run(*engine, request, &account), plain);
    EXPECT_EQ(account.cached_tokens, 149);
  }
  auto other = request;  // shares 100 tokens
  for (size_t i = 100; i < 150; ++i) other.prompt[i] ^= 1;
  const auto expect = run(*f.engine(nullptr), other);
  EXPECT_EQ(run(*engine, other, &account), expect);
  EXPECT_EQ(account.cached_tokens, 100);
  EXPECT_EQ(run(*engine, request), plain);
}

TEST_P(Law1, NeighboursChangeNothing) {
  std::vector<Request> requests;
  std::vector<std::vector<TokenId>> alone;
  for (int i = 0; i < 4; ++i) {
    requests.push_back(make_request(f.prompt(20 + 37 * i, uint32_t(i + 1)), i % 2 ? 0.8f : 0.0f, 25 + 10 * i, uint64_t(i)));
    alone.push_back(run(*f.engine(nullptr), requests.back()));
  }
  for (int kind = 0; kind < 3; ++kind) {
    auto drafter = kind == 0 ? nullptr : kind == 1 ? f.self(5) : std::unique_ptr<Drafter>(new FuzzDrafter(77, 300, alone[2]));
    auto engine = f.engine(std::move(drafter), {.context = 512, .requests = 3, .prompt_rows = 128});
    std::vector<int64_t> ids;
    for (const Request& r : requests) ids.push_back(*engine->submit(r));
    while (!engine->idle()) engine->step();
    for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(engine->answer(ids[i]).tokens, alone[i]) << "kind " << kind << " request " << i;
  }
}

TEST_P(Law1, LimitsAreExact) {
  const auto longest = run(*f.engine(nullptr), make_request(f.prompt(9, 3), 0, 40));
  for (int64_t n = 1; n <= 20; ++n) {
    for (const int max : {8, 16}) {
      const auto got = run(*f.engine(f.self(max)), make_request(f.prompt(9, 3), 0, n));
      EXPECT_EQ(got, std::vector<TokenId>(longest.begin(), longest.begin() + n));
    }
  }
  // The context ends in the middle of a full draft.
  for (const int prompt : {248, 255, 256}) {
    const auto request = make_request(f.prompt(prompt, 2), 0, -1);
    const auto plain = run(*f.engine(nullptr, {.context = 256}), request);
    EXPECT_EQ(plain.size(), size_t(256 - prompt));
    EXPECT_EQ(run(*f.engine(f.self(16), {.context = 256}), request), plain);
    EXPECT_EQ(run(*f.engine(std::make_unique<FuzzDrafter>(3, 300, plain), {.context = 256}), request), plain);
  }
  auto tiny = f.engine(nullptr, {.context = 1});
  EXPECT_EQ(run(*tiny, make_request({65}, 0, -1)).size(), 0u);
  EXPECT_FALSE(tiny->submit(make_request({65, 66}, 0, -1)).ok());
  EXPECT_FALSE(tiny->submit(make_request({}, 0, -1)).ok());
  EXPECT_FALSE(tiny->submit(make_request({1 << 20}, 0, -1)).ok());
}

INSTANTIATE_TEST_SUITE_P(Models, Law1, testing::Range(0, 5));

}  // namespace
}  // namespace outrider
