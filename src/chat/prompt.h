#pragma once
// Messages + a chat template -> the prompt, in segments that say who wrote them.
//
// Only text of the template may be read as control tokens: that is what keeps a message that contains «<|im_end|>» a message. When
// tokenising, look for control tokens inside segments with from_template only (never across two segments), and run the ordinary
// tokenizer over all the text between two control tokens as one piece, so that the ids are those of the undivided string.
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/messages.h"

namespace outrider {

struct Segment {
  std::string text;
  bool from_template;
};

struct PromptOptions {
  bool add_generation_prompt = true;
  std::string bos_token{}, eos_token{};  // their texts, which may yield control tokens like the template itself; empty: undefined
  std::string tools_json{};            // a JSON array, or empty: none
  std::string extra_json{};            // a JSON object of further template variables (enable_thinking …), or empty
  std::tm now = {};                  // local time, for templates that write the date
};

// ChatML: what a model without a template gets.
extern const std::string_view kDefaultTemplate;

// An empty template means kDefaultTemplate. Neighbouring segments differ in from_template, none is empty.
Result<std::vector<Segment>> render_prompt(std::string_view template_text, std::span<const Message> messages,
                                           const PromptOptions& options = {});

}  // namespace outrider
