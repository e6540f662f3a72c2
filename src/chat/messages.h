#pragma once
// What a caller says: one message of a conversation.
#include <string>
#include <vector>

namespace outrider {

struct Message {
  std::string role{};     // system, user, assistant, tool …
  std::string content{};

  // The rest is left out of what the template sees when empty.
  std::string name{};
  std::string reasoning_content{};  // what a thinking model thought before it answered
  std::string tool_call_id{};
  std::string tool_calls_json{};    // a JSON array in the OpenAI shape
};

}  // namespace outrider
