#include "chat/prompt.h"

#include "chat/jinja/template.h"

namespace outrider {

const std::string_view kDefaultTemplate =
    "{%- for message in messages -%}\n"
    "{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}\n"
    "{%- endfor -%}\n"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif -%}";

namespace {

using jinja::Text;
using jinja::Value;
using Names = std::vector<std::pair<std::string, Value>>;

Result<Value> message_value(const Message& message) {
  std::vector<std::pair<Value, Value>> fields;
  const auto add = [&](const char* name, const std::string& text) {
    fields.emplace_back(jinja::string_value(name), Value(Text(text, false)));
  };
  add("role", message.role);
  add("content", message.content);
  if (!message.name.empty()) add("name", message.name);
  if (!message.reasoning_content.empty()) add("reasoning_content", message.reasoning_content);
  if (!message.tool_call_id.empty()) add("tool_call_id", message.tool_call_id);
  if (!message.tool_calls_json.empty()) {
    Result<Value> calls = jinja::value_from_json(message.tool_calls_json, false);
    if (!calls.ok()) return Error{"tool_calls of a message: " + calls.error().message, calls.error().hint, calls.error().kind};
    fields.emplace_back(jinja::string_value("tool_calls"), *calls);
  }
  return jinja::make_dict(std::move(fields));
}

// The variables that transformers hands to a template.
Result<Names> context_of(std::span<const Message> messages, const PromptOptions& options) {
  Names context;
  std::vector<Value> list;
  for (const Message& message : messages) {
    Result<Value> value = message_value(message);
    if (!value.ok()) return value.error();
    list.push_back(*value);
  }
  context.emplace_back("messages", Value::list(std::move(list)));
  context.emplace_back("add_generation_prompt", Value(options.add_generation_prompt));
  context.emplace_back("documents", Value(jinja::None{}));
  if (!options.bos_token.empty()) context.emplace_back("bos_token", jinja::string_value(options.bos_token));
  if (!options.eos_token.empty()) context.emplace_back("eos_token", jinja::string_value(options.eos_token));
  Value tools = Value(jinja::None{});
  if (!options.tools_json.empty()) {
    Result<Value> parsed = jinja::value_from_json(options.tools_json, false);
    if (!parsed.ok()) return Error{"tools: " + parsed.error().message, parsed.error().hint, parsed.error().kind};
    tools = *parsed;
  }
  context.emplace_back("tools", tools);
  if (!options.extra_json.empty()) {
    Result<Value> extra = jinja::value_from_json(options.extra_json, false);
    if (!extra.ok()) return Error{"template variables: " + extra.error().message, extra.error().hint, extra.error().kind};
    if (!extra->is_dict())
      return Error{"template variables must be a JSON object", "For example {\"enable_thinking\": false}", ErrorKind::usage};
    for (const auto& [key, value] : extra->dict().entries) context.emplace_back(key.bytes(), value);
  }
  return context;
}

}  // namespace

Result<std::vector<Segment>> render_prompt(std::string_view template_text, std::span<const Message> messages,
                                           const PromptOptions& options) {
  const Result<jinja::Template> parsed = jinja::Template::parse(template_text.empty() ? kDefaultTemplate : template_text);
  if (!parsed.ok()) return parsed.error();
  Result<Names> context = context_of(messages, options);
  if (!context.ok()) return context.error();
  const Result<Text> text = parsed->render(std::move(*context), options.now);
  if (!text.ok()) return text.error();
  std::vector<Segment> segments;
  size_t start = 0;
  for (const Text::Run& run : text->runs()) {
    segments.push_back({text->bytes().substr(start, run.end - start), run.from_template});
    start = run.end;
  }
  return segments;
}

}  // namespace outrider
