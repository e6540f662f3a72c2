#pragma once
// One function a command; each gives the exit code.
#include "cli/options.h"
#include "cli/runtime.h"

namespace outrider::cli {

int cmd_run(Values values);
int cmd_inspect(Values values);
int cmd_tokenize(Values values);
int cmd_template(Values values);
int cmd_perplexity(Values values);
int cmd_logits(Values values);
int cmd_passes(Values values);
int cmd_bench(Values values);
int bench_sampling(const Values& values);  // bench --sampling
int cmd_bench_answers(Values values);
int cmd_verify(Values values);
int cmd_version(const Values& values);
int cmd_options(const Values& values);
int cmd_completion(const Values& values);

// The chat at the terminal, until /exit or the end of input. `first` is said before anything is read; `prediction` is for every answer.
int chat_loop(Runtime& runtime, const Values& values, const std::optional<std::string>& first, std::vector<TokenId> prediction);

// Parses and runs; arguments without the program's name.
int run_program(const std::vector<std::string>& arguments);

}  // namespace outrider::cli
