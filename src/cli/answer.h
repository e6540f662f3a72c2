#pragma once
// One answer: generated, streamed, and told about.
#include <functional>
#include <string>
#include <vector>

#include "cli/runtime.h"
#include "text/stream.h"

namespace outrider::cli {

struct AnswerResult {
  std::string text;
  Engine::Answer answer;
  bool interrupted = false, output_closed = false;
  uint64_t seed = 0;
  std::vector<StepRecord> steps;
  double total_ms = 0;

  const char* finish_name() const { return interrupted ? "cancelled" : outrider::finish_name(answer.finish); }
};

// Runs the request to its end. `show` gets the text as it becomes certain and says whether anybody still listens; it may be empty.
// Ctrl-C ends the answer within a round.
Result<AnswerResult> generate(const Runtime& runtime, Engine& engine, Request request, std::vector<std::string> stops, bool special,
                              const std::function<bool(std::string_view)>& show);

// «200 tokens, first after 0.41 s, 31.2 tok/s, 2.31 a round (ngram+model: 131 of 190 drafted were right)»
std::string figures_line(const AnswerResult& result, std::string_view drafter);
// The object of --json, as text.
std::string answer_json(const AnswerResult& result, std::string_view drafter, double load_ms, bool with_steps);

}  // namespace outrider::cli
