// Acceptance by rejection through the whole engine: another text than plain decoding's, of the same distribution.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/engine.h"
#include "model/synthetic.h"
#include "support/drafters.h"
#include "support/files.h"

namespace outrider {
namespace {

// Every look takes a while: what is drafted then depends on no real time.
class CountingClock final : public Clock {
 public:
  double now_ms() const override { return time_ms_ += 0.1; }

 private:
  mutable double time_ms_ = 0;
};

struct Fixture {
  test::TemporaryFolder folder;
  ThreadPool pool{1};
  CountingClock clock;
  const kernels::Kernels& kernels = kernels::kernels_for(kernels::best_isa());
  std::unique_ptr<Model> target = model("target", 21);

  std::unique_ptr<Model> model(const std::string& name, uint64_t seed) {
    SyntheticSpec spec;
    spec.seed = uint32_t(seed);
    EXPECT_TRUE(write_synthetic_model(folder / name, spec).ok());
    auto loaded = load_model(folder / name, pool);
    EXPECT_TRUE(loaded.ok());
    return std::move(*loaded);
  }
  // The target itself, but at another temperature and with more tokens to choose from.
  std::unique_ptr<Drafter> nearly(int max, float p_min = 0, bool alone = true) {
    auto writer = ModelWriter::make(*target, kernels, pool, clock, {.context = 128, .min_probability = p_min, .whole_head = true, .temperature = 2, .top_k = 5});
    EXPECT_TRUE(writer.ok());
    return drafters().blend(alone ? std::vector<std::unique_ptr<Source>>{} : make_all_sources(), std::move(*writer), max);
  }
  test::Drafters drafters() const { return {kernels, const_cast<ThreadPool&>(pool), clock, 128, 1}; }
  std::unique_ptr<Engine> engine(std::unique_ptr<Drafter> drafter) {
    return std::move(*Engine::make(*target, kernels, pool, clock, std::move(drafter), {.context = 128}));
  }
};

Request request(uint64_t seed, int64_t tokens, float temperature = 1, int top_k = 0) {
  Request r;
  r.prompt = {97, 98, 97, 99, 97, 98}, r.max_tokens = tokens, r.ignore_end = true, r.acceptance = AcceptRule::rejection;
  r.sampling.seed = seed, r.sampling.temperature = temperature, r.sampling.top_k = top_k, r.sampling.top_p = 1;
  return r;
}

Engine::Answer run(Engine& engine, const Request& request) {
  const auto id = engine.submit(request);
  EXPECT_TRUE(id.ok());
  while (!engine.idle()) engine.step();
  Engine::Answer answer = engine.answer(*id);
  engine.release(*id);
  engine.clear_records();
  return answer;
}

TEST(Rejection, GreedyAnswersAndThoseWithoutDraftsArePlain) {
  Fixture f;
  for (const float temperature : {0.0f, 0.9f}) {
    Request r = request(3, 40, temperature);
    r.acceptance = AcceptRule::equality;
    const auto plain = run(*f.engine(nullptr), r).tokens;
    r.acceptance = AcceptRule::rejection;
    EXPECT_EQ(run(*f.engine(nullptr), r).tokens, plain);
    if (temperature > 0) continue;
    EXPECT_EQ(run(*f.engine(f.nearly(6, 0, false)), r).tokens, plain);
  }
}

TEST(Rejection, RepeatsItselfWithTheSameDrafts) {
  const auto once = [](uint64_t seed) {
    Fixture f;
    return run(*f.engine(f.nearly(6, 0, false)), request(seed, 60));
  };
  const auto first = once(5);
  EXPECT_EQ(first.tokens, once(5).tokens);
  EXPECT_NE(first.tokens, once(6).tokens);
  EXPECT_GT(first.account.accepted, 0);
  EXPECT_GT(first.account.rejected, 0);
}

TEST(Rejection, AModelThatDraftsForItselfIsNeverWrong) {
  Fixture f;
  for (const int top_k : {0, 12}) {
    const auto account = run(*f.engine(f.drafters().by_model(*f.target, 5)), request(6, 60, 1.1f, top_k)).account;
    EXPECT_EQ(account.rejected, 0);
    EXPECT_GT(account.accepted, 30);
  }
}

// The first four tokens of answers, which cross the borders of rounds: χ² of two samples, plain decoding's and that of drafts.
TEST(Rejection, AnswersHaveThePlainDistribution) {
  constexpr int kRuns = 10000;
  Fixture f;
  std::map<std::vector<TokenId>, std::array<int, 2>> plain_and_drafted;
  int64_t accepted = 0, rejected = 0;
  const auto count = [&](Engine& engine, size_t column, uint64_t seed) {
    for (int i = 0; i < kRuns; ++i) {
      const auto answer = run(engine, request(seed + uint64_t(i), 4, 1.2f, 3));
      plain_and_drafted[answer.tokens][column] += 1;
      accepted += answer.account.accepted, rejected += answer.account.rejected;
    }
  };
  count(*f.engine(nullptr), 0, 1);
  const auto plain = plain_and_drafted;
  const auto compare = [&](const char* name, std::unique_ptr<Drafter> drafter, uint64_t seed) {
    plain_and_drafted = plain, accepted = rejected = 0;
    count(*f.engine(std::move(drafter)), 1, seed);
    double chi = 0;
    int cells = 0;
    for (const auto& [tokens, n] : plain_and_drafted)
      if (n[0] + n[1] >= 10) chi += double(n[0] - n[1]) * (n[0] - n[1]) / (n[0] + n[1]), ++cells;
    EXPECT_GT(cells, 10) << name;
    EXPECT_GT(accepted, kRuns / 2) << name;
    EXPECT_GT(rejected, kRuns / 8) << name;
    EXPECT_LT(chi, cells + 3.5 * std::sqrt(2.0 * cells)) << name;
  };
  compare("a model", f.nearly(3), 20001);
  compare("a model when it is sure", f.nearly(3, 0.3f), 40001);
  compare("a model and the text", f.nearly(2, 0.3f, false), 60001);
}

}  // namespace
}  // namespace outrider
