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
};

// Fills in the context, drops a draft model that would not be used, with a warning, and refuses one with another vocabulary.
Result<MemoryPlan> plan_load(RuntimeOptions& options);
Result<void> check_fits(const MemoryPlan& plan);
std::string memory_table(const MemoryPlan& plan);

}  // namespace outrider::cli
