// The object of run --json.
#include <nlohmann/json.hpp>

#include "cli/answer.h"

namespace outrider::cli {

namespace {

using Json = nlohmann::ordered_json;

Json step_json(const StepRecord& s) {
  return {{"start_ms", s.start_ms}, {"draft_ms", s.draft_ms}, {"verify_ms", s.verify_ms}, {"sample_ms", s.sample_ms}, {"commit_ms", s.commit_ms},
          {"prompt_rows", s.prompt_rows}, {"rows", s.rows}, {"drafted", s.drafted}, {"accepted", s.accepted}, {"rejected", s.rejected},
          {"untested", s.untested}, {"cut", s.cut}, {"choices", s.choices}, {"emitted", s.emitted}, {"draft_passes", s.draft_passes}, {"expected_ms", s.expected_ms}, {"expected_tokens", s.expected_tokens}};
}

// Every step with the sources of the tokens that left in it, the target's own left out.
Json steps_json(const AnswerResult& r) {
  Json list = Json::array();
  size_t first = 0;
  for (const StepRecord& s : r.steps) {
    Json step = step_json(s), names = Json::array();
    const size_t end = std::min(first + size_t(s.emitted), r.answer.sources.size());
    for (; first < end; ++first)
      if (const int source = r.answer.sources[first]; source >= 0) names.push_back(r.sources[size_t(source)]);
    step["sources"] = std::move(names);
    list.push_back(std::move(step));
  }
  return list;
}

Json positions(const std::array<int64_t, kMaxDraftRows>& counts, const std::array<int64_t, kMaxDraftRows>& drafted) {
  Json list = Json::array();
  for (size_t i = 0; i < counts.size() && drafted[i] > 0; ++i) list.push_back(counts[i]);
  return list;
}

Json timings(const AnswerResult& r, double load_ms) {
  const RequestAccount& a = r.answer.account;
  double prompt = 0, draft = 0, verify = 0, sample = 0;
  for (const StepRecord& s : r.steps) {
    if (s.prompt_rows > 0) prompt += s.verify_ms;
    draft += s.draft_ms, verify += s.verify_ms, sample += s.sample_ms;
  }
  const bool any = a.emitted > 0;
  return {{"load_ms", load_ms}, {"prompt_ms", prompt}, {"ttft_ms", any ? a.first_token_ms - a.submitted_ms : 0}, {"decode_ms", any ? a.last_token_ms - a.first_token_ms : 0},
          {"total_ms", r.total_ms}, {"draft_ms", draft}, {"verify_ms", verify}, {"sample_ms", sample}, {"rest_ms", r.total_ms - draft - verify - sample},
          {"first_batch_tokens", a.first_batch_tokens}, {"decode_tok_per_s", a.decode_tokens_per_s()}};
}

Json draft_json(const AnswerResult& r) {
  const RequestAccount& a = r.answer.account;
  Json sources = Json::array();
  for (size_t k = 0; k < r.sources.size(); ++k) sources.push_back({{"name", r.sources[k]}, {"drafted", a.drafted_by_source[k]}, {"accepted", a.accepted_by_source[k]}});
  return {{"kind", r.drafter}, {"rounds", a.rounds}, {"drafted", a.drafted}, {"accepted", a.accepted}, {"rejected", a.rejected}, {"untested", a.untested},
          {"cut", a.cut}, {"emitted_per_round", a.rounds > 0 ? double(a.emitted) / double(a.rounds) : 0}, {"sources", sources},
          {"accepted_by_position", positions(a.accepted_by_position, a.drafted_by_position)},
          {"drafted_by_position", positions(a.drafted_by_position, a.drafted_by_position)},
          {"plain_steps", a.alone_steps}, {"plain_ms", a.plain_ms()}, {"balance_ms", a.balance_ms}, {"speedup", a.speedup()}};
}

}  // namespace

std::string answer_json(const AnswerResult& r, double load_ms, JsonParts parts) {
  const RequestAccount& a = r.answer.account;
  Json j;
  j["text"] = r.text;
  j["tokens"] = r.answer.tokens;
  if (parts.sources) j["token_sources"] = r.answer.sources;
  j["prompt_tokens"] = a.prompt_tokens;
  j["completion_tokens"] = a.emitted;
  j["cached_tokens"] = a.cached_tokens;
  j["finish_reason"] = r.finish_name();
  j["seed"] = r.seed;
  j["timings"] = timings(r, load_ms);
  j["draft"] = draft_json(r);
  if (parts.steps) j["steps"] = steps_json(r);
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace outrider::cli
