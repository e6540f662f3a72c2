#include "cli/prompting.h"

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>

#include "chat/prompt.h"
#include "cli/files.h"
#include "cli/terminal.h"

namespace outrider::cli {

namespace {

Result<std::vector<Segment>> render(const Vocabulary& v, const Tokenizer& tokenizer, std::span<const Message> messages) {
  PromptOptions options;
  if (v.bos) options.bos_token = tokenizer.piece(*v.bos, true);
  if (v.eos) options.eos_token = tokenizer.piece(*v.eos, true);
  const std::time_t now = std::time(nullptr);
  localtime_r(&now, &options.now);
  return render_prompt(v.chat_template, messages, options);
}

// ID+B or ID-B.
Result<LogitBias> parse_bias(const std::string& text) {
  char *end = nullptr, *end2 = nullptr;
  const long long id = std::strtoll(text.c_str(), &end, 10);
  const bool split = end != text.c_str() && (*end == '+' || *end == '-');
  const float bias = split ? std::strtof(end, &end2) : 0;
  if (!split || end2 == end || *end2 || !std::isfinite(bias) || id < 0 || id > INT32_MAX)
    return Error{"--logit-bias: «" + text + "» is not ID+B or ID-B", "for example --logit-bias 15043-100", ErrorKind::usage};
  return LogitBias{int32_t(id), bias};
}

}  // namespace

Result<std::vector<TokenId>> encode_messages(const Vocabulary& vocabulary, const Tokenizer& tokenizer, std::span<const Message> messages) {
  const auto segments = render(vocabulary, tokenizer, messages);
  if (!segments) return segments.error();
  std::vector<TextSegment> parts;
  for (const Segment& s : *segments) parts.push_back({s.text, s.from_template});
  return tokenizer.encode(parts, true);
}

Result<std::string> render_messages(const Vocabulary& vocabulary, const Tokenizer& tokenizer, std::span<const Message> messages) {
  const auto segments = render(vocabulary, tokenizer, messages);
  if (!segments) return segments.error();
  std::string text;
  for (const Segment& s : *segments) text += s.text;
  return text;
}

void warn_without_template(const Vocabulary& vocabulary) {
  if (vocabulary.chat_template.empty()) warn("the model has no chat template, so ChatML is assumed; outrider run --raw continues plain text");
}

std::vector<TokenId> encode_raw(const Tokenizer& tokenizer, const std::string& text) { return tokenizer.encode(text, {.parse_special = true, .add_special = true}); }

AcceptRule accept_rule(const Values& values) { return values.text("accept") == "rejection" ? AcceptRule::rejection : AcceptRule::equality; }

Result<SamplingSettings> sampling_settings(const Values& values, const Model& model) {
  const SamplingAdvice& advice = model.config().advice;
  SamplingSettings s;
  s.temperature = values.given("temp") || !advice.temperature ? float(values.number("temp")) : *advice.temperature;
  s.top_p = values.given("top-p") || !advice.top_p ? float(values.number("top-p")) : *advice.top_p;
  s.min_p = values.given("min-p") || !advice.min_p ? float(values.number("min-p")) : *advice.min_p;
  s.top_k = values.given("top-k") || !advice.top_k ? int32_t(values.integer("top-k")) : *advice.top_k;
  if (values.text("samplers") == "greedy") s.temperature = 0;
  s.repeat_penalty = float(values.number("repeat-penalty"));
  s.repeat_last_n = int32_t(values.integer("repeat-last-n"));
  s.presence_penalty = float(values.number("presence-penalty"));
  s.frequency_penalty = float(values.number("frequency-penalty"));
  for (const std::string& text : values.list("logit-bias")) {
    const auto bias = parse_bias(text);
    if (!bias) return bias.error();
    s.logit_bias.push_back(*bias);
  }
  s.seed = values.given("seed") ? values.natural("seed") : std::random_device{}() & 0x7fffffff;
  if (auto r = validate(s, int32_t(model.config().vocabulary)); !r) return r.error();
  return s;
}

bool wants_chat(const Values& values) {
  return values.flag("interactive") || (!values.given("prompt") && !values.given("file") && stdin_is_terminal());
}

Result<std::optional<std::string>> prompt_text(const Values& values) {
  if (values.given("prompt") && values.given("file")) return Error{"both -p and -f are given", "give the prompt once", ErrorKind::usage};
  if (values.given("prompt")) return std::optional(values.text("prompt"));
  if (values.given("file")) {
    auto text = read_file(values.text("file"));
    if (!text) return text.error();
    return std::optional(std::move(*text));
  }
  if (wants_chat(values)) return std::optional<std::string>();
  auto text = read_stdin();
  if (!text) return text.error();
  return std::optional(std::move(*text));
}

}  // namespace outrider::cli
