#include "cli/options.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "cli/numbers.h"

namespace outrider::cli {

namespace {

constexpr CommandInfo kCommands[] = {
    {kRun, "run", "[MODEL] [PROMPT]", Words::model_and_text, "answer one prompt, or chat when there is no prompt and a terminal (the default command)"},
    {kInspect, "inspect", "FILE", Words::model, "what a GGUF file holds"},
    {kTokenize, "tokenize", "[MODEL] [TEXT]", Words::model_and_text, "the tokens of a text"},
    {kTemplate, "template", "[MODEL] [PROMPT]", Words::model_and_text, "a prompt as the model's chat template writes it"},
    {kPerplexity, "perplexity", "[MODEL]", Words::model, "perplexity of a text"},
    {kLogits, "logits", "[MODEL]", Words::model, "logits of a token sequence, for comparisons"},
    {kVerify, "verify", "[MODEL]", Words::model, "check that speculation changes no byte"},
    {kPasses, "bench-passes", "[MODEL]", Words::model, "time of one pass over n rows, and of a 512-token prompt"},
    {kBench, "bench", "[MODEL]", Words::model, "how near the kernels come to what memory and arithmetic allow, and where the time goes"},
    {kAnswers, "bench-answers", "[MODEL]", Words::model, "how much faster drafting makes the answers to a set of prompts, beside plain decoding, pair by pair"},
    {kVersion, "version", "", Words::none, "version, build and instruction set"},
    {kOptions, "options", "", Words::none, "all options"},
    {kCompletion, "completion", "bash|zsh|fish", Words::shell, "a completion script for the shell"},
};

constexpr double kAny = 0x1p64;
constexpr uint32_t kWithModel = kModelCommands | kTokenize | kTemplate;

constexpr Option kOptionTable[] = {
    // name, aliases, kind, value, fallback, low, high, choices, group, help, commands
    {"model", "-m", Kind::text, "FILE", "", 0, 0, "", "Model", "GGUF file of the model; a name alone is also looked for among the fetched models", kWithModel | kInspect},
    {"ctx-size", "-c,--context", Kind::integer, "N", "", 1, 1 << 26, "", "Model", "tokens of prompt and answer together; default 4096 or the model's limit", kAnswering | kVerify},
    {"threads", "-t", Kind::integer, "N", "", 1, 1024, "", "Model", "threads, the calling one included; default: the processors this process may use", kModelCommands},
    {"cache-type-k", "-ctk", Kind::text, "TYPE", "f16", 0, 0, "f16|q8_0", "Model", "type of the keys in the KV cache", kAnswering | kPerplexity | kLogits | kBench},
    {"cache-type-v", "-ctv", Kind::text, "TYPE", "f16", 0, 0, "f16|q8_0", "Model", "type of the values in the KV cache", kAnswering | kPerplexity | kLogits | kBench},
    {"verbose", "-v", Kind::flag, "", "", 0, 0, "", "Model", "tell before loading how much memory will be reserved for what, and the threads", kRun},

    {"prompt", "-p", Kind::text, "TEXT", "", 0, 0, "", "Prompt", "the prompt", kRun | kTokenize | kTemplate},
    {"file", "-f", Kind::text, "FILE", "", 0, 0, "", "Prompt", "read the prompt or text from a file", kRun | kTokenize | kTemplate | kPerplexity},
    {"system", "-sys", Kind::text, "TEXT", "", 0, 0, "", "Prompt", "a system message before the prompt", kRun | kTemplate},
    {"raw", "", Kind::flag, "", "", 0, 0, "", "Prompt", "feed the prompt as it is, control tokens included, without the chat template", kRun},
    {"interactive", "-i", Kind::flag, "", "", 0, 0, "", "Prompt", "chat even when standard input is no terminal", kRun},

    {"predict", "-n,--n-predict", Kind::integer, "N", "-1", -1, 1 << 26, "", "Answer", "tokens of the answer at most; -1: until the end of the turn", kAnswering},
    {"stop", "", Kind::list, "TEXT", "", 0, 0, "", "Answer", "end the answer before this text; may be repeated", kRun},
    {"ignore-eos", "", Kind::flag, "", "", 0, 0, "", "Answer", "go on after the end of the turn, up to -n", kAnswering},
    {"json", "", Kind::flag, "", "", 0, 0, "", "Answer", "one JSON object instead of text", kAnswering | kInspect | kTokenize | kPerplexity | kVerify | kVersion | kOptions | kBench},
    {"steps", "", Kind::flag, "", "", 0, 0, "", "Answer", "with --json: a record of every step", kRun},
    {"show-source", "", Kind::flag, "", "", 0, 0, "", "Answer", "colour the text by who drafted it, on a terminal; with --json: the source of every token", kRun},

    {"temp", "--temperature", Kind::number, "T", "0.7", 0, 100, "", "Sampling", "temperature; 0 is greedy", kAnswering},
    {"top-k", "", Kind::integer, "K", "0", 0, 1 << 24, "", "Sampling", "keep the K most probable tokens; 0: all", kAnswering},
    {"top-p", "", Kind::number, "P", "0.95", 0, 1, "", "Sampling", "keep the most probable tokens that make up P; 1: all", kAnswering},
    {"min-p", "", Kind::number, "P", "0", 0, 1, "", "Sampling", "drop tokens less probable than P times the best; 0: none", kAnswering},
    {"repeat-penalty", "", Kind::number, "R", "1", 0.01, 100, "", "Sampling", "divide the logits of repeated tokens by R; 1: off", kAnswering},
    {"repeat-last-n", "", Kind::integer, "N", "64", -1, 1 << 26, "", "Sampling", "tokens the penalties look back on; -1: all", kAnswering},
    {"presence-penalty", "", Kind::number, "X", "0", -2, 2, "", "Sampling", "subtract X from tokens that occurred", kAnswering},
    {"frequency-penalty", "", Kind::number, "X", "0", -2, 2, "", "Sampling", "subtract X for each occurrence", kAnswering},
    {"logit-bias", "", Kind::list, "ID±B", "", 0, 0, "", "Sampling", "add B to the logit of token ID, as in 15043+1.5 or 15043-100; may be repeated", kAnswering},
    {"samplers", "", Kind::text, "NAME", "", 0, 0, "greedy", "Sampling", "greedy: the same as --temp 0", kAnswering},
    {"seed", "-s", Kind::integer, "N", "", 0, kAny, "", "Sampling", "seed of the noise; default: a random one, printed by --json", kAnswering},

    {"prediction", "", Kind::text, "FILE", "", 0, 0, "", "Speculation", "text that the answer will probably resemble, as when a file is to be printed again with a change", kRun},
    {"draft", "-md,--model-draft", Kind::text, "FILE", "", 0, 0, "", "Speculation", "GGUF file of a smaller model to draft with; best one of the same family, whose vocabulary is the same", kAnswering | kVerify},
    {"draft-max", "--draft-n", Kind::integer, "N", "", 0, 31, "", "Speculation", "drafted tokens a round at most; 0: none. Default: as many as are expected to pay", kAnswering},
    {"draft-min", "", Kind::integer, "N", "0", 0, 31, "", "Speculation", "shorter drafts are dropped", kAnswering},
    {"draft-p-min", "", Kind::number, "P", "0", 0, 1, "", "Speculation", "a draft model stops when it is less certain than P", kAnswering},
    {"draft-temp", "", Kind::number, "T", "", 0, 100, "", "Speculation", "temperature of the draft model; default: that of the answer, which agrees most often", kAnswering},
    {"draft-top-k", "", Kind::integer, "K", "", 0, 1 << 24, "", "Speculation", "top-k of the draft model; default: that of the answer", kAnswering},
    {"draft-cache-type-k", "-ctkd,--cache-type-k-draft", Kind::text, "TYPE", "f16", 0, 0, "f16|q8_0", "Speculation", "type of the draft model's keys", kAnswering},
    {"draft-cache-type-v", "-ctvd,--cache-type-v-draft", Kind::text, "TYPE", "f16", 0, 0, "f16|q8_0", "Speculation", "type of the draft model's values", kAnswering},
    {"accept", "", Kind::text, "RULE", "equality", 0, 0, "equality|rejection", "Speculation",
     "when a drafted token stands. equality: the text is that of plain decoding; rejection, to compare: another text, of the same distribution", kRun},
    {"spec", "", Kind::list, "KIND[:key=value,…]", "auto", 0, 0, "", "Speculation",
     "auto or on: all together, weighed against what they cost; off: nobody; or who may draft, one kind each time it is given", kAnswering},

    {"calibration", "", Kind::text, "auto|off|FOLDER", "auto", 0, 0, "", "Speculation",
     "where to keep what drafting learned of its odds and prices, for the next call with the same models: figures, no text. auto: in the user's cache", kAnswering},

    {"no-bos", "", Kind::flag, "", "", 0, 0, "", "Text", "leave out the token that starts a text", kTokenize},
    {"plain", "", Kind::flag, "", "", 0, 0, "", "Text", "read control tokens as text", kTokenize},
    {"chunk", "", Kind::integer, "N", "512", 4, 1 << 20, "", "Text", "tokens of a chunk", kPerplexity},
    {"ids", "", Kind::text, "1,2,3", "", 0, 0, "", "Text", "token ids", kLogits},
    {"output", "-o", Kind::text, "FILE", "", 0, 0, "", "Text", "where to write (NumPy file)", kLogits},

    {"tensors", "", Kind::flag, "", "", 0, 0, "", "Inspect", "list every tensor", kInspect},
    {"keys", "", Kind::flag, "", "", 0, 0, "", "Inspect", "list every key", kInspect},
    {"template", "", Kind::flag, "", "", 0, 0, "", "Inspect", "print the chat template", kInspect},

    {"prompts", "", Kind::text, "FILE", "", 0, 0, "", "Check", "JSON lines of {id, task, messages, max_tokens}; default prompts/outrider.jsonl, else a few of our own", kVerify | kAnswers},
    {"tasks", "", Kind::text, "A,B", "", 0, 0, "", "Check", "only prompts of these tasks", kAnswers},
    {"per-task", "", Kind::integer, "N", "0", 0, 100000, "", "Check", "only the first N prompts of a task; 0: all", kAnswers},
    {"minutes", "", Kind::number, "M", "0", 0, 100000, "", "Check", "begin rounds until so many minutes are over, and let drafters keep the texts: do speed and memory stay as they are?", kAnswers},
    {"full", "", Kind::flag, "", "", 0, 0, "", "Check", "every combination of drafter, length, threads, KV type, sampling and penalties instead of a covering choice", kVerify},
    {"tokens", "", Kind::integer, "N", "48", 1, 100000, "", "Check", "tokens of an answer", kVerify},
    {"arms", "", Kind::integer, "N", "0", 0, 100000, "", "Check", "settings tried at most; 0: all of the choice", kVerify},
    {"self", "", Kind::flag, "", "", 0, 0, "", "Check", "also let the model draft for itself", kVerify},
    {"kernels", "", Kind::flag, "", "", 0, 0, "", "Check", "time passes beside what memory and arithmetic allow at that moment", kBench},
    {"sampling", "", Kind::flag, "", "", 0, 0, "", "Check", "time the choice of a token, by setting", kBench},
    {"rows", "-n", Kind::text, "1,2,4", "", 0, 0, "", "Check", "rows of a pass; default 1,2,4,8,16, with --kernels 1 to 16, 24, 32", kPasses | kBench},
    {"split", "", Kind::text, "1,8", "1,8,16", 0, 0, "", "Check", "rows of the passes whose time is split into parts", kBench},
    {"depth", "-d,--context", Kind::integer, "N", "0", 0, 1 << 20, "", "Check", "tokens already in the context", kPasses | kBench},
    {"rounds", "-r", Kind::integer, "N", "", 1, 10000, "", "Check", "rounds; the median is given. Default 9, with --kernels or --sampling 15, of answers 5", kPasses | kBench | kAnswers},
};

}  // namespace

std::span<const CommandInfo> command_table() { return kCommands; }
std::span<const Option> option_table() { return kOptionTable; }

const CommandInfo* find_command(std::string_view name) {
  for (const CommandInfo& c : kCommands)
    if (c.name == name) return &c;
  return nullptr;
}

namespace {

std::optional<bool> truth(std::string_view word) {
  for (const char* yes : {"1", "true", "yes", "on"})
    if (word == yes) return true;
  for (const char* no : {"0", "false", "no", "off"})
    if (word == no) return false;
  return std::nullopt;
}

}  // namespace

std::string environment_name(const Option& option) {
  std::string name = "OUTRIDER_";
  for (const char c : option.name) name += c == '-' ? '_' : char(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

void Values::set(std::string_view name, std::string value, bool from_user) {
  Entry& entry = entries_[std::string(name)];
  if (from_user && !entry.from_user) entry.values.clear();
  entry.values.push_back(std::move(value));
  entry.from_user |= from_user;
}

bool Values::given(std::string_view name) const {
  const auto found = entries_.find(name);
  return found != entries_.end() && found->second.from_user;
}

std::vector<std::string> Values::list(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? std::vector<std::string>{} : found->second.values;
}

std::string Values::text(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() || found->second.values.empty() ? "" : found->second.values.back();
}

bool Values::flag(std::string_view name) const { return truth(text(name)).value_or(false); }
int64_t Values::integer(std::string_view name) const { return std::strtoll(text(name).c_str(), nullptr, 10); }
uint64_t Values::natural(std::string_view name) const { return std::strtoull(text(name).c_str(), nullptr, 10); }
double Values::number(std::string_view name) const { return std::strtod(text(name).c_str(), nullptr); }

namespace {

std::string shown(double x) {
  if (x >= kAny) return "18446744073709551615";
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, std::fabs(x) >= 1e15 ? "%.0f" : "%.10g", x);
  return buffer;
}

}  // namespace

Result<void> check_value(const Option& o, const std::string& value, const std::string& source) {
  const auto wrong = [&](const std::string& why) { return Error{source + ": «" + value + "» " + why, "", ErrorKind::usage}; };
  if (!o.choices.empty()) {
    std::string_view rest = o.choices;
    while (true) {
      const size_t bar = rest.find('|');
      if (rest.substr(0, bar) == value) return {};
      if (bar == std::string_view::npos) return wrong("is not one of " + std::string(o.choices));
      rest.remove_prefix(bar + 1);
    }
  }
  if (o.kind == Kind::flag && !truth(value)) return wrong("is neither true nor false");
  if (o.kind == Kind::list && value.empty()) return wrong("is empty");
  if (o.kind != Kind::integer && o.kind != Kind::number) return {};
  const auto x = parse_number(value, o.kind == Kind::integer);
  if (!x) return wrong(o.kind == Kind::integer ? "is not a whole number" : "is not a number");
  if (*x < o.low || *x > o.high) return wrong("is out of range: " + shown(o.low) + " to " + shown(o.high));
  return {};
}

Result<std::vector<int64_t>> parse_numbers(const std::string& text, const char* option) {
  std::vector<int64_t> numbers;
  const char* p = text.c_str();
  while (*p) {
    char* end = nullptr;
    numbers.push_back(std::strtoll(p, &end, 10));
    if (end == p || (*end && *end != ',')) return Error{std::string(option) + ": «" + text + "» is no list of numbers", "write 1,2,3", ErrorKind::usage};
    p = *end ? end + 1 : end;
  }
  if (numbers.empty()) return Error{std::string(option) + " is empty", "write 1,2,3", ErrorKind::usage};
  return numbers;
}

}  // namespace outrider::cli
