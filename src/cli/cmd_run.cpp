// outrider run: one answer, or the chat when there is no prompt and a terminal.
#include <algorithm>

#include "cli/answer.h"
#include "cli/calibration.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/interrupts.h"
#include "cli/prompting.h"
#include "cli/source_colours.h"
#include "cli/terminal.h"

namespace outrider::cli {

namespace {

Result<std::vector<TokenId>> encode_prompt(const Values& values, const Runtime& runtime, const std::string& text) {
  if (values.flag("raw")) return encode_raw(*runtime.tokenizer, text);
  std::vector<Message> messages;
  if (!values.text("system").empty()) messages.push_back({.role = "system", .content = values.text("system")});
  messages.push_back({.role = "user", .content = text});
  return encode_messages(runtime.model->vocabulary(), *runtime.tokenizer, messages);
}

int answer_once(const Values& values, Runtime& runtime, const std::string& text, std::vector<TokenId> prediction) {
  auto prompt = encode_prompt(values, runtime, text);
  if (!prompt) return report(prompt.error());
  auto sampling = sampling_settings(values, *runtime.model);
  if (!sampling) return report(sampling.error());
  auto drafter = runtime.make_drafter();
  if (!drafter) return report(drafter.error());
  auto engine = runtime.make_engine(std::move(*drafter));
  if (!engine) return report(engine.error());
  const auto calibration = Calibration::make(values, runtime);
  if (!calibration) return report(calibration.error());
  calibration->recall(**engine);
  Request request;
  request.prompt = std::move(*prompt), request.prediction = std::move(prediction), request.sampling = std::move(*sampling);
  request.max_tokens = values.integer("predict"), request.ignore_end = values.flag("ignore-eos");
  request.acceptance = runtime.options.acceptance;
  const bool json = values.flag("json");
  const SourceColours colours((*engine)->draft_sources(), !json && values.flag("show-source"));
  colours.tell_legend();
  const auto show = [&](std::string_view piece, int source) { return json || colours.show(piece, source); };
  const auto result = generate(runtime, **engine, std::move(request), values.list("stop"), false, show);
  if (!result) return report(result.error());
  if (json) write_out(answer_json(*result, runtime.load_ms, {.steps = values.flag("steps"), .sources = values.flag("show-source")}) + "\n");
  else if (!result->text.empty() && result->text.back() != '\n') write_out("\n");
  if (!write_out("")) return report(output_error());
  if (!json) say(figures_line(*result));
  if (auto kept = calibration->keep(**engine); !kept) warn(kept.error().message);
  return result->interrupted ? interrupt_code() : 0;
}

// Options that say nothing together.
Result<void> check_combination(const Values& values, bool chat) {
  const auto given = [&](const char* name) { return values.flag(name); };
  const auto wrong = [](const char* message, const char* hint) { return Error{message, hint, ErrorKind::usage}; };
  if (given("raw") && !values.text("system").empty()) return wrong("--system has no place in a --raw prompt", "write it into the prompt, or leave out --raw");
  if (given("steps") && !given("json")) return wrong("--steps is a part of --json", "add --json");
  if (chat && given("json")) return wrong("--json is for one answer, not for a chat", "give the prompt with -p TEXT and leave out -i");
  if (chat && given("raw")) return wrong("--raw continues one text and is no chat", "give the text with -p TEXT and leave out -i");
  return {};
}

}  // namespace

int cmd_run(Values values) {
  auto path = model_path(values);
  if (!path) return report(path.error());
  const bool chat = wants_chat(values);
  if (auto sound = check_combination(values, chat); !sound) return report(sound.error());
  auto text = prompt_text(values);
  if (interrupted()) return interrupt_code();
  if (!text) return report(text.error());
  // The line end that `echo` or an editor puts after a text is no part of a message.
  if (*text && !values.given("prompt") && !values.flag("raw") && (*text)->ends_with('\n')) (*text)->pop_back();
  if (*text && (*text)->empty()) {
    if (chat || values.given("prompt") || values.given("file") || values.flag("json")) return report({"the prompt is empty", "give some text with -p TEXT", ErrorKind::usage});
    say("outrider: nothing to answer: no prompt was given and standard input is empty");
    return 0;
  }
  auto prediction = read_prediction(values);
  if (interrupted()) return interrupt_code();
  if (!prediction) return report(prediction.error());
  auto options = runtime_options(values);
  if (!options) return report(options.error());
  options->model_path = *path;
  if (!prediction->text.empty() && !std::ranges::count(options->spec.sources, "prediction")) warn("the prediction is not used, because --spec or --draft-max leaves it out");
  auto runtime = load_runtime(std::move(*options));
  if (!runtime) return report(runtime.error());
  if (!values.flag("raw")) warn_without_template((*runtime)->model->vocabulary());
  auto expected = encode_prediction(*(*runtime)->tokenizer, *prediction, (*runtime)->options.context);
  return chat ? chat_loop(**runtime, values, *text, std::move(expected)) : answer_once(values, **runtime, **text, std::move(expected));
}

}  // namespace outrider::cli
