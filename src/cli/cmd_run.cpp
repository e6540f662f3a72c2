// outrider run: one answer, or the chat when there is no prompt and a terminal.
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/prompting.h"
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

int answer_once(const Values& values, Runtime& runtime, const std::string& text) {
  auto prompt = encode_prompt(values, runtime, text);
  if (!prompt) return report(prompt.error());
  auto sampling = sampling_settings(values, *runtime.model);
  if (!sampling) return report(sampling.error());
  auto drafter = runtime.make_drafter(runtime.options.spec);
  if (!drafter) return report(drafter.error());
  auto engine = runtime.make_engine(std::move(*drafter));
  if (!engine) return report(engine.error());
  Request request;
  request.prompt = std::move(*prompt), request.sampling = std::move(*sampling);
  request.max_tokens = values.integer("predict"), request.ignore_end = values.flag("ignore-eos");
  const bool json = values.flag("json");
  const auto show = [&](std::string_view piece) { return json || write_out(piece); };
  const auto result = generate(runtime, **engine, std::move(request), values.list("stop"), false, show);
  if (!result) return report(result.error());
  const std::string_view kind = (*engine)->drafter_kind();
  if (json) write_out(answer_json(*result, kind, runtime.load_ms, values.flag("steps")) + "\n");
  else if (!result->text.empty() && result->text.back() != '\n') write_out("\n");
  if (!write_out("")) return report(output_error());
  if (!json) say(figures_line(*result, kind));
  return result->interrupted ? interrupt_code() : 0;
}

}  // namespace

int cmd_run(Values values) {
  auto path = model_path(values);
  if (!path) return report(path.error());
  auto text = prompt_text(values);
  if (interrupted()) return interrupt_code();
  if (!text) return report(text.error());
  // The line end that `echo` or an editor puts after a text is no part of a message.
  if (*text && !values.given("prompt") && !values.flag("raw") && (*text)->ends_with('\n')) (*text)->pop_back();
  if (*text && (*text)->empty()) {
    if (values.given("prompt") || values.given("file") || values.flag("json")) return report({"the prompt is empty", "give some text with -p TEXT", ErrorKind::usage});
    say("outrider: nothing to answer: no prompt was given and standard input is empty");
    return 0;
  }
  auto options = runtime_options(values);
  if (!options) return report(options.error());
  options->model_path = *path;
  auto runtime = load_runtime(std::move(*options));
  if (!runtime) return report(runtime.error());
  return *text ? answer_once(values, **runtime, **text) : chat_loop(**runtime, values);
}

}  // namespace outrider::cli
