#pragma once
// One answer: generated, streamed, and told about.
#include <functional>
#include <string>
#include <vector>

#include "cli/runtime.h"
#include "text/stream.h"

namespace outrider::cli {

// Gets the text as it becomes certain, token by token, each with its source (Engine::Answer::sources), and says whether anybody still
// listens.
using Show = std::function<bool(std::string_view text, int source)>;

struct AnswerResult {
  std::string text;
  Engine::Answer answer;
  bool interrupted = false, output_closed = false;
  uint64_t seed = 0;
  std::vector<StepRecord> steps;
  std::string drafter;                // Drafter::kind()
  std::vector<std::string> sources;  // Drafter::sources()
  double total_ms = 0;

  const char* finish_name() const { return interrupted ? "cancelled" : outrider::finish_name(answer.finish); }
};

// Runs the request to its end; `show` may be empty. Ctrl-C ends the answer within a round.
Result<AnswerResult> generate(const Runtime& runtime, Engine& engine, Request request, std::vector<std::string> stops, bool special, const Show& show);

// «200 tokens, first after 0.41 s, 31.2 tok/s, 87 rounds, 2.31 a round (model 45 %, lookup 12 %, itself 43 %), ≈ 1.83 × plain»
std::string figures_line(const AnswerResult& result);
struct JsonParts {
  bool steps = false, sources = false;  // of every step, of every token
};
// The object of --json, as text.
std::string answer_json(const AnswerResult& result, double load_ms, JsonParts parts);

}  // namespace outrider::cli
