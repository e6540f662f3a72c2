#pragma once
// What a call will load and how much memory that takes, decided from the headers before anything is loaded.
#include <string>
#include <vector>

#include "cli/runtime.h"

namespace outrider::cli {

struct MemoryPlan {
  struct Row {
    std::string what;
    size_t bytes;
  };
  std::vector<Row> rows;  // what will be reserved
  size_t free_bytes = 0;  // before that
  std::shared_ptr<const Translator> translator;  // where the draft model will be used and numbers its tokens otherwise
};

// Fills in the context, drops a draft model that would not be used, with a warning, and refuses one that shares too few tokens.
// `model_is_there`: its weights are loaded already, and only the rest is to come.
Result<MemoryPlan> plan_load(RuntimeOptions& options, bool model_is_there = false);
Result<void> check_fits(const MemoryPlan& plan);
std::string memory_table(const MemoryPlan& plan);

}  // namespace outrider::cli
