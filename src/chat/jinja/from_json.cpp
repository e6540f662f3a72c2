#include <nlohmann/json.hpp>

#include "chat/jinja/template.h"

namespace outrider::jinja {
namespace {

using Json = nlohmann::ordered_json;

// A parser callback would see depth too, but only after the parser recursed; a scan before is simple and cannot be fooled:
// brackets inside strings are skipped.
bool too_deep(std::string_view json) {
  int depth = 0;
  bool inside = false;
  for (size_t i = 0; i < json.size(); i++) {
    const char c = json[i];
    if (inside) {
      if (c == '\\') i++;
      else if (c == '"') inside = false;
    } else if (c == '"') {
      inside = true;
    } else if (c == '[' || c == '{') {
      if (++depth >= kMaxValueDepth) return true;
    } else if (c == ']' || c == '}') {
      depth--;
    }
  }
  return false;
}

Value convert(const Json& json, bool from_template) {
  if (json.is_null()) return Value(None{});
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number_unsigned() && json.get<uint64_t>() > uint64_t(INT64_MAX)) return Value(json.get<double>());
  if (json.is_number_integer()) return Value(json.get<int64_t>());
  if (json.is_number()) return Value(json.get<double>());
  if (json.is_string()) return Value(Text(json.get_ref<const std::string&>(), from_template));
  if (json.is_array()) {
    std::vector<Value> items;
    for (const Json& item : json) items.push_back(convert(item, from_template));
    return Value::list(std::move(items));
  }
  std::vector<std::pair<Value, Value>> entries;
  for (const auto& [key, item] : json.items()) entries.emplace_back(Value(Text(key, from_template)), convert(item, from_template));
  return make_dict(std::move(entries));
}

}  // namespace

Result<Value> value_from_json(std::string_view text, bool from_template) {
  if (too_deep(text)) return Error{"the JSON is nested more than " + std::to_string(kMaxValueDepth) + " deep", "", ErrorKind::usage};
  try {
    return convert(Json::parse(text), from_template);
  } catch (const Json::exception& e) {
    return Error{std::string("the JSON is not valid: ") + e.what(), "", ErrorKind::usage};
  } catch (const TemplateError& e) {
    return Error{"the JSON cannot be used: " + e.message, "", ErrorKind::usage};
  }
}

}  // namespace outrider::jinja
