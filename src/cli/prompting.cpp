#include "cli/prompting.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>

#include "chat/prompt.h"
#include "cli/files.h"
#include "cli/terminal.h"

namespace outrider::cli {

namespace {

constexpr size_t kMostTokenBytes = 64;  // of a text, in the mean of a context

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

// Read from the start in ever longer parts until they fill the context: what lies beyond costs nothing.
std::vector<TokenId> encode_prediction(const Tokenizer& tokenizer, const Prediction& prediction, int64_t context) {
  const std::string_view text = prediction.text;
  std::vector<TokenId> ids;
  size_t read = 0;
  for (size_t part = 8 * size_t(context); read < text.size() && int64_t(ids.size()) <= context; part *= 4) {
    read = std::min(part, text.size());
    ids = tokenizer.encode(text.substr(0, read));
  }
  if (!prediction.cut && read == text.size() && int64_t(ids.size()) <= context) return ids;
  if (int64_t(ids.size()) > context) ids.resize(size_t(context));
  warn("the prediction is longer than the context of " + std::to_string(context) + " tokens; only its beginning is used");
  return ids;
}

Result<Prediction> read_prediction(const Values& values) {
  if (!values.given("prediction")) return Prediction();
  const int64_t context = values.given("ctx-size") ? values.integer("ctx-size") : kDefaultContext;
  auto read = read_beginning(values.text("prediction"), size_t(context) * kMostTokenBytes);
  if (!read) return Error{"the prediction: " + read.error().message, read.error().hint, read.error().kind};
  return Prediction{std::move(read->text), read->cut};
}

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
