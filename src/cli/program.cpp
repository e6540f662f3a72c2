#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/terminal.h"

namespace outrider::cli {

int run_program(const std::vector<std::string>& arguments) {
  ignore_write_signals();
  auto parsed = parse_arguments(arguments);
  if (!parsed) return report(parsed.error());
  if (parsed->help) return print(*parsed->help);
  Values values = std::move(parsed->values);
  switch (values.command) {
    case kInspect: return cmd_inspect(std::move(values));
    case kTokenize: return cmd_tokenize(std::move(values));
    case kTemplate: return cmd_template(std::move(values));
    case kPerplexity: return cmd_perplexity(std::move(values));
    case kLogits: return cmd_logits(std::move(values));
    case kPasses: return cmd_passes(std::move(values));
    case kBench: return cmd_bench(std::move(values));
    case kAnswers: watch_interrupts(); return cmd_bench_answers(std::move(values));
    case kVerify: watch_interrupts(); return cmd_verify(std::move(values));
    case kVersion: return cmd_version(values);
    case kOptions: return cmd_options(values);
    case kCompletion: return cmd_completion(values);
    default: watch_interrupts(); return cmd_run(std::move(values));
  }
}

}  // namespace outrider::cli
