#include "cli/answer.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/interrupts.h"
#include "text/stop.h"

namespace outrider::cli {

namespace {

// Text out as it becomes certain; the answer ends at a stop string, at Ctrl-C, or when nobody listens any more.
class Listener final : public StopRule {
 public:
  Listener(const Tokenizer& tokenizer, std::vector<std::string> stops, bool special, const Show& show)
      : text_stop_(TextStream(tokenizer, std::move(stops), special), [this, &show](std::string_view piece, size_t token) {
          text_ += piece;
          if (show && !show(piece, answer_ ? answer_->sources[token] : Engine::kOwn)) closed_ = true;
        }) {}

  void listen_to(const Engine::Answer& answer) { answer_ = &answer; }
  bool push(TokenId token) override { return text_stop_.push(token) || closed_ || cli::interrupted(); }
  void finish() { text_stop_.finish(); }
  const std::string& text() const { return text_; }
  bool closed() const { return closed_; }

 private:
  const Engine::Answer* answer_ = nullptr;
  std::string text_;
  bool closed_ = false;
  TextStop text_stop_;
};

// «model 45 %, lookup 12 %, itself 43 %», the most first: of the tokens of the answer. Less than half a per cent is left out.
std::string shares(const AnswerResult& r) {
  std::vector<std::pair<int64_t, std::string_view>> parts;
  for (size_t k = 0; k < r.sources.size(); ++k)
    if (const int64_t n = std::ranges::count(r.answer.sources, int8_t(k)); 200 * n >= std::ssize(r.answer.sources)) parts.emplace_back(n, r.sources[k]);
  std::ranges::stable_sort(parts, std::greater(), &std::pair<int64_t, std::string_view>::first);
  parts.emplace_back(std::ranges::count(r.answer.sources, Engine::kOwn), "itself");
  std::string text;
  for (const auto& [n, name] : parts) text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, 100.0 * double(n) / double(r.answer.sources.size()));
  return text;
}

}  // namespace

Result<AnswerResult> generate(const Runtime& runtime, Engine& engine, Request request, std::vector<std::string> stops, bool special, const Show& show) {
  Listener listener(*runtime.tokenizer, std::move(stops), special, show);
  AnswerResult result;
  result.seed = request.sampling.seed;
  request.stop = &listener;
  engine.clear_records();
  const auto id = engine.submit(std::move(request));
  if (!id) return id.error();
  listener.listen_to(engine.answer(*id));
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
  result.drafter = engine.drafter_kind(), result.sources = engine.draft_sources();
  return result;
}

std::string figures_line(const AnswerResult& r) {
  const RequestAccount& a = r.answer.account;
  std::string line = fmt::format("{} {}", a.emitted, a.emitted == 1 ? "token" : "tokens");
  if (a.emitted > 0) line += fmt::format(", first after {:.2f} s", (a.first_token_ms - a.submitted_ms) / 1e3);
  if (a.decode_tokens_per_s() > 0) line += fmt::format(", {:.1f} tok/s", a.decode_tokens_per_s());
  if (a.drafted > 0 && a.emitted > 0) line += fmt::format(", {} rounds, {:.2f} a round ({})", a.rounds, double(a.emitted) / double(a.rounds), shares(r));
  if (a.drafted > 0 && a.speedup() > 0) line += fmt::format(", ≈ {:.2f} × plain", a.speedup());
  if (r.interrupted) line += ", interrupted";
  return line;
}

}  // namespace outrider::cli
