#include "cli/answer.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/interrupts.h"
#include "text/stop.h"

namespace outrider::cli {

namespace {

// Text out as it becomes certain; the answer ends at a stop string, at Ctrl-C, or when nobody listens any more.
class Listener final : public StopRule {
 public:
  Listener(const Tokenizer& tokenizer, std::vector<std::string> stops, bool special, const std::function<bool(std::string_view)>& show)
      : text_stop_(TextStream(tokenizer, std::move(stops), special), [this, &show](std::string_view piece) {
          text_ += piece;
          if (show && !show(piece)) closed_ = true;
        }) {}

  bool push(TokenId token) override { return text_stop_.push(token) || closed_ || cli::interrupted(); }
  void finish() { text_stop_.finish(); }
  const std::string& text() const { return text_; }
  bool closed() const { return closed_; }

 private:
  std::string text_;
  bool closed_ = false;
  TextStop text_stop_;
};

nlohmann::ordered_json step_json(const StepRecord& s) {
  return {{"start_ms", s.start_ms}, {"draft_ms", s.draft_ms}, {"verify_ms", s.verify_ms}, {"sample_ms", s.sample_ms}, {"commit_ms", s.commit_ms},
          {"prompt_rows", s.prompt_rows}, {"rows", s.rows}, {"drafted", s.drafted}, {"accepted", s.accepted}, {"rejected", s.rejected},
          {"untested", s.untested}, {"cut", s.cut}, {"choices", s.choices}, {"emitted", s.emitted}, {"draft_passes", s.draft_passes}, {"expected_ms", s.expected_ms}, {"expected_tokens", s.expected_tokens}};
}

nlohmann::ordered_json positions(const std::array<int64_t, kMaxDraftRows>& counts, const std::array<int64_t, kMaxDraftRows>& drafted) {
  auto list = nlohmann::ordered_json::array();
  for (size_t i = 0; i < counts.size() && drafted[i] > 0; ++i) list.push_back(counts[i]);
  return list;
}

}  // namespace

Result<AnswerResult> generate(const Runtime& runtime, Engine& engine, Request request, std::vector<std::string> stops, bool special,
                              const std::function<bool(std::string_view)>& show) {
  Listener listener(*runtime.tokenizer, std::move(stops), special, show);
  AnswerResult result;
  result.seed = request.sampling.seed;
  request.stop = &listener;
  engine.clear_records();
  const auto id = engine.submit(std::move(request));
  if (!id) return id.error();
  while (!engine.idle()) {
    engine.step();
    if (interrupted() && !engine.idle()) engine.cancel(*id);
  }
  listener.finish();
  result.answer = engine.answer(*id);
  result.total_ms = runtime.clock.now_ms() - result.answer.account.submitted_ms;
  engine.release(*id);
  result.text = listener.text();
  result.output_closed = listener.closed();
  result.interrupted = interrupted();
  result.steps = engine.records();
  return result;
}

std::string figures_line(const AnswerResult& r, std::string_view drafter) {
  const RequestAccount& a = r.answer.account;
  std::string line = fmt::format("{} {}", a.emitted, a.emitted == 1 ? "token" : "tokens");
  if (a.emitted > 0) line += fmt::format(", first after {:.2f} s", (a.first_token_ms - a.submitted_ms) / 1e3);
  if (a.decode_tokens_per_s() > 0) line += fmt::format(", {:.1f} tok/s", a.decode_tokens_per_s());
  if (a.drafted > 0 && a.rounds > 0)
    line += fmt::format(", {:.2f} a round ({}: {} of {} drafted were right)", double(a.emitted) / double(a.rounds), drafter, a.accepted, a.drafted);
  if (a.drafted > 0 && a.plain_ms > 0) line += fmt::format(", {:.2f} × plain", a.plain_ms / (a.plain_ms - a.gained_ms));
  if (r.interrupted) line += ", interrupted";
  return line;
}

std::string answer_json(const AnswerResult& r, std::string_view drafter, double load_ms, bool with_steps) {
  const RequestAccount& a = r.answer.account;
  const double decode_ms = a.last_token_ms - a.first_token_ms;
  nlohmann::ordered_json j;
  j["text"] = r.text;
  j["tokens"] = r.answer.tokens;
  j["prompt_tokens"] = a.prompt_tokens;
  j["completion_tokens"] = a.emitted;
  j["cached_tokens"] = a.cached_tokens;
  j["finish_reason"] = r.finish_name();
  j["seed"] = r.seed;
  const double first_ms = a.emitted > 0 ? a.first_token_ms - a.submitted_ms : 0;
  double prompt_ms = 0;
  for (const StepRecord& s : r.steps)
    if (s.prompt_rows > 0) prompt_ms += s.verify_ms;
  j["timings"] = {{"load_ms", load_ms}, {"prompt_ms", prompt_ms}, {"ttft_ms", first_ms}, {"decode_ms", a.emitted > 0 ? decode_ms : 0}, {"total_ms", r.total_ms},
                  {"first_batch_tokens", a.first_batch_tokens}, {"decode_tok_per_s", a.decode_tokens_per_s()}};
  j["draft"] = {{"kind", drafter}, {"rounds", a.rounds}, {"drafted", a.drafted}, {"accepted", a.accepted}, {"rejected", a.rejected}, {"untested", a.untested},
                {"cut", a.cut}, {"emitted_per_round", a.rounds > 0 ? double(a.emitted) / double(a.rounds) : 0},
                {"accepted_by_position", positions(a.accepted_by_position, a.drafted_by_position)},
                {"drafted_by_position", positions(a.drafted_by_position, a.drafted_by_position)}};
  if (with_steps) {
    j["steps"] = nlohmann::ordered_json::array();
    for (const StepRecord& s : r.steps) j["steps"].push_back(step_json(s));
  }
  return j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace outrider::cli
