// outrider verify: the same text with every drafter and setting, or exit code 1 and the place where it differs.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/model_file.h"
#include "cli/prompt_set.h"
#include "cli/prompting.h"
#include "cli/terminal.h"
#include "measure/lossless.h"
#include "measure/prompts.h"

namespace outrider::cli {

namespace {

std::string around(const Tokenizer& tokenizer, const std::vector<TokenId>& tokens, size_t at) {
  const size_t first = at > 8 ? at - 8 : 0, last = std::min(tokens.size(), at + 8);
  const auto part = [&](size_t from, size_t to) { return tokenizer.decode({tokens.data() + std::min(from, tokens.size()), tokens.data() + std::min(to, tokens.size())}, true); };
  return part(first, at) + "⟦" + part(at, std::min(at + 1, last)) + "⟧" + part(std::min(at + 1, last), last);
}

void show_difference(const Runtime& runtime, const std::vector<Prompt>& prompts, const Difference& d) {
  say("  differs on prompt «" + prompts[d.prompt].id + "» at token " + std::to_string(d.at));
  say("    plain:      " + around(*runtime.tokenizer, d.plain, d.at));
  say("    speculated: " + around(*runtime.tokenizer, d.speculated, d.at));
}

Result<LosslessCheck::Setup> make_setup(const Values& values, Runtime& r, ThreadPool& one, const std::vector<Prompt>& prompts) {
  LosslessCheck::Setup setup{.model = r.model.get(), .draft = r.draft.get(), .translator = r.translator, .one_thread = &one, .all_threads = r.pool.get(), .kernels = r.kernels, .narrow = nullptr, .clock = &r.clock, .prompts = {}};
  if (r.kernels == &kernels::kAvx512Kernels) setup.narrow = &kernels::kAvx2Kernels;
  setup.tokens = values.integer("tokens"), setup.context = r.options.context, setup.stop = &interrupted();
  for (const Prompt& p : prompts) {
    auto ids = encode_messages(r.model->vocabulary(), *r.tokenizer, p.messages);
    if (!ids) return ids.error();
    setup.prompts.push_back(std::move(*ids));
  }
  return setup;
}

}  // namespace

int cmd_verify(Values values) {
  auto path = model_path(values);
  if (!path) return report(path.error());
  const auto prompts = load_prompts(values, "", 1);
  if (interrupted()) return interrupt_code();
  if (!prompts) return report(prompts.error());
  RuntimeOptions options;
  options.model_path = *path, options.draft_path = find_model(values.text("draft"));
  options.threads = values.given("threads") ? int(values.integer("threads")) : std::max(2, usable_cpus());
  options.context = values.given("ctx-size") ? values.integer("ctx-size") : 0;
  options.spec.model = !options.draft_path.empty();
  auto loaded = load_runtime(std::move(options));
  if (!loaded) return report(loaded.error());
  Runtime& runtime = **loaded;
  ThreadPool one(1);
  auto setup = make_setup(values, runtime, one, *prompts);
  if (!setup) return report(setup.error());

  std::vector<ArmDrafter> drafters{ArmDrafter::fuzz, ArmDrafter::lookup, ArmDrafter::recycle, ArmDrafter::automatic, ArmDrafter::all};
  if (runtime.draft) drafters.push_back(ArmDrafter::model);
  if (values.flag("self")) drafters.push_back(ArmDrafter::self);
  const bool quantised = runtime.model->config().head_dim % 32 == 0 && (!runtime.draft || runtime.draft->config().head_dim % 32 == 0);
  auto arms = values.flag("full") ? all_arms(drafters, quantised) : covering_arms(drafters, quantised, setup->narrow != nullptr, 1);
  if (const size_t most = size_t(values.integer("arms")); most > 0 && arms.size() > most) arms.resize(most);
  const bool json = values.flag("json");
  say(fmt::format("{} arms, {} prompts, {} tokens each, against plain decoding", arms.size(), prompts->size(), setup->tokens));

  LosslessCheck check(std::move(*setup));
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  int64_t different = 0, answers = 0, tokens = 0, drafted = 0, accepted = 0;
  for (const VerifyArm& arm : arms) {
    const auto result = check.run(arm);
    if (interrupted()) return interrupt_code();
    if (!result) return report(result.error());
    answers += result->answers, tokens += result->tokens, drafted += result->drafted, accepted += result->accepted;
    different += result->difference.has_value();
    const bool self_wrong = arm.drafter == ArmDrafter::self && result->rejected > 0 && arm.quantised_kv == arm.quantised_draft_kv;
    different += self_wrong;
    if (json) rows.push_back({{"arm", arm_text(arm)}, {"answers", result->answers}, {"tokens", result->tokens}, {"drafted", result->drafted}, {"accepted", result->accepted}, {"rejected", result->rejected}, {"equal", !result->difference}});
    else if (!write_out(fmt::format("{}  {:72} {:4} tokens, {:4} drafted, {:4} accepted\n", result->difference || self_wrong ? "DIFFERENT" : "equal    ", arm_text(arm), result->tokens, result->drafted, result->accepted))) return report(output_error());
    if (result->difference) show_difference(runtime, *prompts, *result->difference);
    if (self_wrong) say("  a model that drafts for itself was wrong " + std::to_string(result->rejected) + " times");
  }
  const int code = print(json ? nlohmann::ordered_json{{"arms", rows}, {"different", different}, {"answers", answers}, {"tokens", tokens}}.dump(2) + "\n"
                              : fmt::format("{} arms, {} answers, {} tokens, {} drafted, {} accepted: {} different\n", arms.size(), answers, tokens, drafted, accepted, different));
  return different ? 1 : code;
}

}  // namespace outrider::cli
