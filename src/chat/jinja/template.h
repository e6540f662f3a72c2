#pragma once
// A parsed template: the edge of the engine, where its errors become Results.
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "chat/jinja/runner.h"

namespace outrider::jinja {

class Template {
 public:
  static Result<Template> parse(std::string_view source);

  // The text, with the provenance of every byte. May be called from several threads at once.
  Result<Text> render(std::vector<std::pair<std::string, Value>> context, const std::tm& now, const Limits& limits = {}) const;

 private:
  std::shared_ptr<const Body> body_;
};

// JSON text -> value; strings and keys are marked as written by a message (or, for special token texts, by the template).
Result<Value> value_from_json(std::string_view json, bool from_template);

}  // namespace outrider::jinja
