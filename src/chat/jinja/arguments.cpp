#include "chat/jinja/runner.h"

namespace outrider::jinja {

const Value* Arguments::find(size_t i, const char* name) const {
  if (i < positional.size()) return &positional[i];
  for (const auto& [key, value] : keyword) {
    if (key == name) return &value;
  }
  return nullptr;
}

const Value& Arguments::need(size_t i, const char* name) const {
  const Value* v = find(i, name);
  if (!v) throw TemplateError{std::string("missing a required argument: '") + name + "'"};
  return *v;
}

int64_t Arguments::integer(size_t i, const char* name, int64_t fallback) const {
  const Value* v = find(i, name);
  if (!v) return fallback;
  if (v->is_undefined()) throw TemplateError{v->why_undefined()};
  if (!v->is_integral()) throw TemplateError{"'" + v->type_name() + "' object cannot be interpreted as an integer"};
  return v->integer();
}

bool Arguments::flag(size_t i, const char* name, bool fallback) const {
  const Value* v = find(i, name);
  return v ? v->truthy() : fallback;
}

const Text* Arguments::text(size_t i, const char* name) const {
  const Value* v = find(i, name);
  if (!v || v->is_none()) return nullptr;
  if (v->is_undefined()) throw TemplateError{v->why_undefined()};
  if (!v->is_text()) throw TemplateError{std::string("argument '") + name + "' must be str, not " + v->type_name()};
  return &v->text();
}

void Arguments::at_most(size_t count) const {
  if (positional.size() > count)
    throw TemplateError{"too many arguments: " + std::to_string(positional.size()) + ", at most " + std::to_string(count) + " expected"};
}

}  // namespace outrider::jinja
