// What one request asks for, and what becomes of one that leaves: nobody else notices.
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "model/synthetic.h"
#include "support/drafters.h"
#include "support/files.h"

namespace outrider {
namespace {

class Requests : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  ThreadPool pool_{2};
  SteadyClock clock_;
  std::unique_ptr<Model> model_;
  const kernels::Kernels& kernels_ = kernels::kernels_for(kernels::best_isa());

  void SetUp() override {
    ASSERT_TRUE(write_synthetic_model(folder_ / "m.gguf", {.seed = 9}).ok());
    auto loaded = load_model(folder_ / "m.gguf", pool_);
    ASSERT_TRUE(loaded.ok());
    model_ = std::move(*loaded);
  }
  std::unique_ptr<Engine> engine(std::unique_ptr<Drafter> drafter, int requests = 1) {
    auto e = Engine::make(*model_, kernels_, pool_, clock_, std::move(drafter), {.context = 256, .requests = requests});
    EXPECT_TRUE(e.ok());
    return std::move(*e);
  }
  test::Drafters drafters(int requests = 1) { return {kernels_, pool_, clock_, 256, requests}; }

  // `prompt` different tokens.
  static Request request(int prompt, int64_t tokens) {
    Request r;
    for (int i = 0; i < prompt; ++i) r.prompt.push_back(40 + i);
    r.max_tokens = tokens, r.ignore_end = true, r.sampling.seed = 4;
    return r;
  }
  static Engine::Answer run(Engine& engine, const Request& request) {
    const auto id = engine.submit(request);
    EXPECT_TRUE(id.ok());
    while (!engine.idle()) engine.step();
    Engine::Answer answer = engine.answer(*id);
    engine.release(*id);
    return answer;
  }
};

// C36: the bound of one request holds beside a neighbour that has another.
TEST_F(Requests, EachBoundsItsOwnDrafts) {
  const auto plain = run(*engine(nullptr), request(30, 60)).tokens;
  const int bounds[] = {-1, 0, 1, 3, Request::kNoLimit};
  auto e = engine(drafters(5).by_model(*model_, 6), 5);
  std::vector<int64_t> ids;
  for (const int bound : bounds) {
    Request r = request(30, 60);
    r.max_draft = bound;
    ids.push_back(*e->submit(r));
  }
  while (!e->idle()) e->step();
  for (size_t i = 0; i < ids.size(); ++i) {
    const Engine::Answer& answer = e->answer(ids[i]);
    EXPECT_EQ(answer.tokens, plain) << bounds[i];
    const auto& places = answer.account.drafted_by_position;
    for (int place = 0; place < int(places.size()); ++place) EXPECT_EQ(places[size_t(place)] > 0, place < std::min(bounds[i], 6)) << bounds[i] << " place " << place;
  }
}

// C48: fifty leave while their prompt is read, while they wait or while they are answered. The next one is read in the step after that, says what it
// says alone, and is still drafted for, so that neither engine nor drafter kept any memory.
TEST_F(Requests, WhoLeavesMakesRoom) {
  const Request next = request(12, 30);
  const auto plain = run(*engine(nullptr), next).tokens;
  auto e = engine(drafters().by_model(*model_, 8));
  for (int i = 0; i < 50; ++i) {
    const int64_t leaves = *e->submit(request(150, -1)), waits = *e->submit(request(20, 5));
    for (int steps = 0; steps < i % 10; ++steps) e->step();
    e->cancel(leaves), e->cancel(waits);
    ASSERT_TRUE(e->idle());
    EXPECT_EQ(e->answer(leaves).finish, Finish::cancelled);
    EXPECT_EQ(e->answer(waits).finish, Finish::cancelled);
    EXPECT_EQ(e->answer(leaves).tokens.empty(), i % 10 < 2) << i;
    const int64_t id = *e->submit(next);
    e->step();
    EXPECT_EQ(e->answer(id).tokens.size(), 1u);
    while (!e->idle()) e->step();
    ASSERT_EQ(e->answer(id).tokens, plain) << i;
    EXPECT_GT(e->answer(id).account.accepted, 10) << i;
    for (const int64_t gone : {leaves, waits, id}) e->release(gone);
  }
}

// C28: what is kept between calls is odds and prices. A prompt that another engine has answered is as new here as any: nothing is
// drafted behind its last token, where the engine that answered it knows what follows.
TEST_F(Requests, ExperienceHoldsNoText) {
  const auto drafted_at_first = [](Engine& e) {
    e.clear_records();
    run(e, request(30, 40));
    for (const StepRecord& r : e.records())
      if (r.decoding > 0) return r.drafted;
    return -1;
  };
  for (const char* source : {"recycle", "lookup"}) {
    const auto first = engine(drafters().by_source(source, 6)), second = engine(drafters().by_source(source, 6));
    EXPECT_EQ(drafted_at_first(*first), 0) << source;
    ASSERT_TRUE(second->recall(first->experience()));
    EXPECT_EQ(drafted_at_first(*second), 0) << source;
    if (source == std::string_view("recycle")) { EXPECT_GT(drafted_at_first(*first), 0); }  // and this would show if it were not so
  }
}

}  // namespace
}  // namespace outrider
