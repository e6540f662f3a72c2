#pragma once
// Prompt sets: JSON lines of {id, task, messages, max_tokens}.
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/messages.h"

namespace outrider {

struct Prompt {
  std::string id, task;
  std::vector<Message> messages;
  int64_t max_tokens = 256;
};

// Errors name the line. Unknown fields are ignored.
Result<std::vector<Prompt>> parse_prompts(const std::string& text, const std::string& name);

}  // namespace outrider
