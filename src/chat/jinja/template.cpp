#include "chat/jinja/template.h"

#include <new>

#include "chat/jinja/parser.h"

namespace outrider::jinja {
namespace {

constexpr size_t kMaxTemplateBytes = 4u << 20;

Error error_of(const TemplateError& e) {
  std::string where = e.line > 0 ? " (line " + std::to_string(e.line) + " of the chat template)" : "";
  return {"chat template: " + e.message + where, "Use another template, or --raw to feed the prompt as it is."};
}

}  // namespace

Result<Template> Template::parse(std::string_view source) {
  if (source.size() > kMaxTemplateBytes)
    return Error{"the chat template has " + std::to_string(source.size()) + " bytes, more than 4 MiB", ""};
  try {
    Template result;
    result.body_ = std::make_shared<const Body>(jinja::parse(source));
    return result;
  } catch (const TemplateError& e) {
    return error_of(e);
  }
}

Result<Text> Template::render(std::vector<std::pair<std::string, Value>> context, const std::tm& now, const Limits& limits) const {
  Runner runner(limits, now);
  try {
    return runner.run(*body_, std::move(context));
  } catch (const TemplateError& e) {
    return error_of(e);
  } catch (const std::bad_alloc&) {
    return Error{"chat template: out of memory", ""};
  }
}

}  // namespace outrider::jinja
