#pragma once
// The prompts that commands measure and check with: --prompts, else prompts/outrider.jsonl where there is one, else a few of our own.
#include <vector>

#include "cli/options.h"
#include "measure/prompts.h"

namespace outrider::cli {

// Of the tasks that are named, all without; of each task the first `per_task`, all when 0. Errors: a file that cannot be read, a task
// that has no prompt.
Result<std::vector<Prompt>> load_prompts(const Values& values, const std::string& tasks = "", int64_t per_task = 0);

}  // namespace outrider::cli
