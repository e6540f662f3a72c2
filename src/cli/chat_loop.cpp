// The chat at the terminal: /commands, answers that can be stopped, retried and saved.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/answer.h"
#include "cli/calibration.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/interrupts.h"
#include "cli/line_input.h"
#include "cli/prompting.h"
#include "cli/source_colours.h"
#include "cli/terminal.h"

namespace outrider::cli {

namespace {

constexpr const char* kHelp =
    "/help            this list\n/reset           forget the conversation\n/system TEXT     set the system message and start anew\n"
    "/stats           figures of the last answer\n/spec off|auto|KIND[:key=value,…] …   change speculation\n/retry           answer again, differently\n"
    "/save FILE       write the conversation\n/load FILE       read one\n/exit            leave\nCtrl-C stops an answer.";

class Chat {
 public:
  Chat(Runtime& runtime, const Values& values, std::vector<TokenId> prediction) : runtime_(runtime), values_(values), prediction_(std::move(prediction)) {}

  Result<void> start() {
    auto sampling = sampling_settings(values_, *runtime_.model);
    if (!sampling) return sampling.error();
    sampling_ = *sampling;
    auto calibration = Calibration::make(values_, runtime_);
    if (!calibration) return calibration.error();
    calibration_ = std::move(*calibration);
    if (!values_.text("system").empty()) set_system(values_.text("system"));
    return start_engine();
  }

  void ask(const std::string& text) {
    messages_.push_back({.role = "user", .content = text});
    sampling_.stream = 0;
    if (!answer()) messages_.pop_back();
  }

  // False to leave.
  bool line(const std::string& text) {
    if (text.empty()) return true;
    if (text[0] != '/') return ask(text), true;
    const size_t space = std::min(text.find(' '), text.size());
    const std::string command = text.substr(0, space), argument = space < text.size() ? text.substr(space + 1) : "";
    if (command == "/exit" || command == "/quit") return false;
    act(command, argument);
    return true;
  }

  bool output_closed() const { return output_closed_; }
  bool broken() const { return broken_; }

 private:
  void act(const std::string& command, const std::string& argument) {
    if (command == "/help") say(kHelp);
    else if (command == "/reset") messages_.resize(has_system());
    else if (command == "/system") set_system(argument);
    else if (command == "/stats") stats();
    else if (command == "/spec") change_spec(argument);
    else if (command == "/retry") retry();
    else if (command == "/save") save(argument);
    else if (command == "/load") load(argument);
    else say("unknown command " + command + "; /help lists them");
  }

  size_t has_system() const { return !messages_.empty() && messages_[0].role == "system"; }

  void set_system(const std::string& text) {
    messages_.clear();
    if (!text.empty()) messages_.push_back({.role = "system", .content = text});
  }

  // False when there is no answer; then the messages are as before.
  bool answer() {
    auto prompt = encode_messages(runtime_.model->vocabulary(), *runtime_.tokenizer, messages_);
    if (!prompt) return report(prompt.error()), false;
    const SourceColours colours(engine_->draft_sources(), values_.flag("show-source"));
    colours.tell_legend();
    Request request;
    request.prompt = std::move(*prompt), request.prediction = prediction_, request.sampling = sampling_;
    request.max_tokens = values_.integer("predict"), request.ignore_end = values_.flag("ignore-eos");
    request.acceptance = runtime_.options.acceptance;
    auto result = generate(runtime_, *engine_, std::move(request), values_.list("stop"), false, [&](std::string_view piece, int source) { return colours.show(piece, source); });
    forget_interrupt();
    if (!result) return report(result.error()), false;
    if (!write_out("\n")) output_closed_ = true;
    messages_.push_back({.role = "assistant", .content = result->text});
    last_ = std::move(*result);
    say(figures_line(*last_));
    if (auto kept = calibration_.keep(*engine_); !kept) warn(kept.error().message);
    return true;
  }

  void retry() {
    if (messages_.empty() || messages_.back().role != "assistant") return say("nothing to retry");
    const Message before = messages_.back();
    messages_.pop_back();
    ++sampling_.stream;  // the same seed, the next stream of noise
    if (!answer()) messages_.push_back(before);
  }

  void stats() {
    if (!last_) return say("no answer yet");
    const RequestAccount& a = last_->answer.account;
    double draft = 0, verify = 0, sample = 0, commit = 0;
    for (const StepRecord& s : last_->steps) draft += s.draft_ms, verify += s.verify_ms, sample += s.sample_ms, commit += s.commit_ms;
    say(figures_line(*last_));
    say(fmt::format("prompt {} tokens ({} cached), {} rounds; ms: draft {:.0f}, verify {:.0f}, sample {:.0f}, commit {:.0f}, in all {:.0f}", a.prompt_tokens, a.cached_tokens,
                    a.rounds, draft, verify, sample, commit, last_->total_ms));
  }

  // As runtime_.options.spec says. The engine and what it remembers are gone in any case.
  Result<void> start_engine() {
    engine_.reset();
    if (auto r = runtime_.load_draft(); !r) return r;
    auto drafter = runtime_.make_drafter();
    if (!drafter) return drafter.error();
    auto engine = runtime_.make_engine(std::move(*drafter));
    if (!engine) return engine.error();
    engine_ = std::move(*engine);
    calibration_.recall(*engine_);
    return {};
  }

  void change_spec(const std::string& argument) {
    std::vector<std::string> specs;
    std::string word;
    for (const char c : argument + " ") {
      if (c != ' ') word += c;
      else if (!word.empty()) specs.push_back(std::exchange(word, {}));
    }
    if (specs.empty()) return say("speculation: " + std::string(engine_->drafter_kind()));
    const auto plan = plan_speculation(values_, specs);
    if (!plan) return void(report(plan.error()));
    runtime_.options.spec = *plan;
    if (auto r = start_engine(); !r) {
      report(r.error());
      runtime_.options.spec = SpecPlan{};
      if (auto plain = start_engine(); !plain) {
        report(plain.error());
        broken_ = true;
        return;
      }
    }
    forget_interrupt();  // Ctrl-C while a draft model was loading
    say("speculation: " + std::string(engine_->drafter_kind()));
  }

  void save(const std::string& path) {
    if (path.empty()) return say("/save needs a file name");
    auto j = nlohmann::ordered_json::array();
    for (const Message& m : messages_) j.push_back({{"role", m.role}, {"content", m.content}});
    const std::string text = j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    if (auto r = write_file(path, [&](const Put& put) { return put(text); }); !r) report(r.error());
    else say("saved " + std::to_string(messages_.size()) + " messages to " + path);
  }

  void load(const std::string& path) {
    const auto text = read_file(path);
    if (interrupted()) return forget_interrupt();  // while nobody wrote to a pipe
    if (!text) return void(report(text.error()));
    const auto j = nlohmann::json::parse(*text, nullptr, false);
    std::vector<Message> messages;
    bool good = j.is_array();
    for (size_t i = 0; good && i < j.size(); ++i) {
      good = j[i].is_object() && j[i].contains("role") && j[i].contains("content") && j[i]["role"].is_string() && j[i]["content"].is_string();
      if (good) messages.push_back({.role = j[i]["role"], .content = j[i]["content"]});
    }
    if (!good) return void(report({path + " is no saved conversation", "it must hold a JSON array of {role, content}"}));
    messages_ = std::move(messages);
    say("loaded " + std::to_string(messages_.size()) + " messages");
  }

  Runtime& runtime_;
  const Values& values_;
  std::vector<TokenId> prediction_;
  SamplingSettings sampling_;
  std::vector<Message> messages_;
  std::unique_ptr<Engine> engine_;
  Calibration calibration_;
  std::optional<AnswerResult> last_;
  bool output_closed_ = false, broken_ = false;
};

}  // namespace

int chat_loop(Runtime& runtime, const Values& values, const std::optional<std::string>& first, std::vector<TokenId> prediction) {
  if (interrupted()) return interrupt_code();  // while the model was loading
  Chat chat(runtime, values, std::move(prediction));
  if (auto r = chat.start(); !r) return report(r.error());
  const bool terminal = stdin_is_terminal();
  LineInput input(terminal);
  if (terminal) say(runtime.model->config().name + ": /help lists the commands, Ctrl-D leaves");
  if (first) chat.ask(*first);
  while (!chat.output_closed()) {
    const auto text = input.read("> ");
    if (!text && interrupted()) return interrupt_code();
    forget_interrupt();
    if (!text || !chat.line(*text)) return 0;
    if (chat.broken()) return 1;
  }
  return report(output_error());
}

}  // namespace outrider::cli
