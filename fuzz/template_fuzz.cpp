// Any bytes as a chat template over a conversation: it ends, within bounds, in text or one clear error, and what the messages wrote is
// never taken for the template's: the marker below occurs in messages only, so none of it may come out as template text.
#include <cstdlib>

#include "chat/jinja/template.h"

using namespace outrider;

namespace {

constexpr char kMarker = '\x01';  // templates that may write it themselves (an escape in a string) are not judged by it

std::vector<std::pair<std::string, jinja::Value>> context() {
  const auto json = jinja::value_from_json(R"({"messages": [{"role": "system", "content": "\u0001be \u0001 brief"}, {"role": "user", "content": "\u0001a\u0001, é 😀\n\u0001"},
    {"role": "assistant", "content": "\u0001", "tool_calls": [{"function": {"name": "\u0001f", "arguments": {"\u0001x": [1, 2.5, null, true]}}}]}],
    "tools": [{"name": "\u0001t", "parameters": {"b": 2, "a": 1}}], "n": 7, "x": 2.5, "items": [3, 1, 2], "d": {"k": "\u0001v", "l": []}, "add_generation_prompt": true})", false);
  std::vector<std::pair<std::string, jinja::Value>> names;
  for (const auto& [key, value] : json->dict().entries) names.emplace_back(key.bytes(), value);
  return names;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const auto parsed = jinja::Template::parse(source);
  if (!parsed.ok()) return 0;
  jinja::Limits limits;
  limits.steps = 20000;
  limits.output_bytes = 1 << 18;
  limits.total_bytes = 1 << 22;
  const auto text = parsed->render(context(), std::tm{}, limits);
  if (!text.ok()) {
    if (text.error().message.empty()) std::abort();
    return 0;
  }
  if (text->size() > limits.output_bytes) std::abort();
  size_t start = 0;
  const bool writes_marker = source.find(kMarker) != std::string_view::npos || source.find('\\') != std::string_view::npos;
  for (const jinja::Text::Run& run : text->runs()) {
    if (run.end <= start) std::abort();
    const auto part = std::string_view(text->bytes()).substr(start, run.end - start);
    if (run.from_template && !writes_marker && part.find(kMarker) != std::string_view::npos) std::abort();
    start = run.end;
  }
  if (start != text->size()) std::abort();
  return 0;
}
