#include "measure/answers.h"

namespace outrider {

namespace {

Result<Engine::Answer> run(Engine& engine, Request request, const std::atomic<bool>& stop) {
  engine.clear_records();
  const auto id = engine.submit(std::move(request));
  if (!id) return id.error();
  while (!engine.idle()) {
    if (stop.load()) {
      engine.cancel(*id);
      return Error{"interrupted", ""};
    }
    engine.step();
  }
  Engine::Answer answer = engine.answer(*id);
  engine.release(*id);
  return answer;
}

AnswerTimes times_of(const RequestAccount& a) { return {a.decode_tokens_per_s(), a.last_token_ms - a.first_token_ms, a.finished_ms - a.submitted_ms}; }

void foresee(AnswerPair& pair, std::span<const StepRecord> steps) {
  for (const StepRecord& s : steps) {
    if (s.drafted == 0) continue;
    pair.expected_tokens += s.expected_tokens, pair.got_tokens += s.emitted + s.cut;
    pair.expected_ms += s.expected_ms, pair.took_ms += s.draft_ms + s.verify_ms + s.sample_ms;
  }
}

}  // namespace

Result<AnswerPair> time_pair(Engine& plain, Engine& drafted, const Request& request, bool plain_first, const std::atomic<bool>& stop) {
  Engine* const order[2] = {plain_first ? &plain : &drafted, plain_first ? &drafted : &plain};
  Engine::Answer answers[2];  // plain, drafted
  for (Engine* engine : order) {
    auto answer = run(*engine, request, stop);
    if (!answer) return answer.error();
    answers[engine == &drafted] = std::move(*answer);
  }
  const auto& [a, b] = answers;
  AnswerPair pair{.plain = times_of(a.account), .drafted = times_of(b.account), .tokens = a.account.emitted, .same = a.tokens == b.tokens && a.finish == b.finish, .account = b.account};
  foresee(pair, drafted.records());
  return pair;
}

}  // namespace outrider
