#include "chat/jinja/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace outrider::jinja {
namespace {

// The canonical form under which a key is found: equal values have equal forms.
void append_key(std::string& out, const Value& key) {
  if (out.size() > kMaxTextBytes) throw TemplateError{"a key of a mapping is too large"};  // tuples of tuples may unfold without end
  if (key.is_text()) {
    out += 's';
    out += std::to_string(key.bytes().size());
    out += ':';
    out += key.bytes();
  } else if (key.is_integral() || (key.is_float() && key.number() == std::floor(key.number()) && std::fabs(key.number()) < 9e18)) {
    out += 'i';
    out += std::to_string(key.is_float() ? int64_t(key.number()) : key.integer());
  } else if (key.is_float()) {
    out += 'f';
    out += float_repr(key.number());
  } else if (key.is_none()) {
    out += 'n';
  } else if (key.is_undefined()) {
    out += 'u';
  } else if (key.is_list() && key.list().tuple) {
    out += '(';
    for (const Value& item : key.items()) append_key(out, item);
    out += ')';
  } else if (key.is_object()) {
    out += 'o';
    out += std::to_string(reinterpret_cast<uintptr_t>(key.object().get()));
  } else {
    throw TemplateError{"unhashable type: '" + key.type_name() + "'"};
  }
}

std::string key_of(const Value& key) {
  std::string out;
  append_key(out, key);
  return out;
}

int child_depth(int depth, const Value& child) {
  depth = std::max(depth, child.depth() + 1);
  if (depth > kMaxValueDepth) throw TemplateError{"lists and mappings are nested more than " + std::to_string(kMaxValueDepth) + " deep"};
  return depth;
}

constexpr size_t kMaxBulk = size_t(1) << 48;

}  // namespace

Value Object::call(Runner&, Arguments&) { throw TemplateError{std::string("'") + type_name() + "' object is not callable"}; }

bool Object::attribute(const std::string&, Value&) { return false; }

Value Value::list(std::vector<Value> items, bool tuple) {
  auto list = std::make_shared<List>();
  for (const Value& item : items) {
    list->depth = child_depth(list->depth, item);
    list->bulk = std::min(kMaxBulk, list->bulk + item.bulk());
  }
  list->items = std::move(items);
  list->tuple = tuple;
  return Value(std::shared_ptr<const List>(std::move(list)));
}

const std::vector<Value>& Value::items() const { return list().items; }

std::string Value::type_name() const {
  if (is_undefined()) return "Undefined";
  if (is_none()) return "NoneType";
  if (is_bool()) return "bool";
  if (is_int()) return "int";
  if (is_float()) return "float";
  if (is_text()) return "str";
  if (is_list()) return list().tuple ? "tuple" : "list";
  if (is_dict()) return "dict";
  return object()->type_name();
}

std::string Value::why_undefined() const {
  const auto& why = std::get<Undefined>(data_).why;
  return why ? *why : "the value is undefined";
}

bool Value::truthy() const {
  if (is_undefined() || is_none()) return false;
  if (is_bool()) return boolean();
  if (is_int()) return integer() != 0;
  if (is_float()) return number() != 0;
  if (is_text()) return !text().empty();
  if (is_list()) return !items().empty();
  if (is_dict()) return !dict().entries.empty();
  return object()->length() != 0;
}

int Value::depth() const {
  if (is_list()) return list().depth;
  if (is_dict()) return dict().depth;
  return is_object() ? object()->depth() : 0;
}

size_t Value::bulk() const { return is_text() ? text().size() + 1 : is_list() ? list().bulk : is_dict() ? dict().bulk : 1; }

void Dict::set(Value key, Value value) {
  depth = child_depth(child_depth(depth, value), key);
  bulk = std::min(kMaxBulk, bulk + key.bulk() + value.bulk());
  const auto [place, added] = index.emplace(key_of(key), entries.size());
  if (added) entries.emplace_back(std::move(key), std::move(value));
  else entries[place->second].second = std::move(value);
}

const Value* Dict::find(const Value& key) const {
  const auto place = index.find(key_of(key));
  return place == index.end() ? nullptr : &entries[place->second].second;
}

const Value* Dict::find(const std::string& key) const {
  const auto place = index.find("s" + std::to_string(key.size()) + ":" + key);
  return place == index.end() ? nullptr : &entries[place->second].second;
}

Value make_dict(std::vector<std::pair<Value, Value>> entries) {
  auto dict = std::make_shared<Dict>();
  for (auto& [key, value] : entries) dict->set(std::move(key), std::move(value));
  return Value(std::shared_ptr<const Dict>(std::move(dict)));
}

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_integral() && b.is_integral() ? a.integer() == b.integer() : a.number() == b.number();
  }
  if (a.is_text() && b.is_text()) return a.bytes() == b.bytes();
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (a.is_undefined() || b.is_undefined()) return a.is_undefined() && b.is_undefined();
  if (a.is_list() && b.is_list()) {
    return a.list().tuple == b.list().tuple && std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), equal);
  }
  if (a.is_dict() && b.is_dict()) {
    if (a.dict().entries.size() != b.dict().entries.size()) return false;
    for (const auto& [key, value] : a.dict().entries) {
      const Value* other = b.dict().find(key);
      if (!other || !equal(value, *other)) return false;
    }
    return true;
  }
  return a.is_object() && b.is_object() && a.object() == b.object();
}

int compare(const Value& a, const Value& b, const char* operation) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return a.integer() < b.integer() ? -1 : a.integer() > b.integer();
    const double x = a.number(), y = b.number();
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
  }
  if (a.is_text() && b.is_text()) {  // UTF-8 sorts as its code points do
    const int order = a.bytes().compare(b.bytes());
    return order < 0 ? -1 : order > 0;
  }
  if (a.is_list() && b.is_list() && a.list().tuple == b.list().tuple) {
    const size_t common = std::min(a.items().size(), b.items().size());
    for (size_t i = 0; i < common; i++) {
      if (!equal(a.items()[i], b.items()[i])) return compare(a.items()[i], b.items()[i], operation);
    }
    return a.items().size() < b.items().size() ? -1 : a.items().size() > b.items().size();
  }
  if (a.is_undefined() || b.is_undefined()) throw TemplateError{a.is_undefined() ? a.why_undefined() : b.why_undefined()};
  throw TemplateError{std::string("'") + operation + "' not supported between instances of '" + a.type_name() + "' and '" + b.type_name() +
                      "'"};
}

bool contains(const Value& container, const Value& item) {
  if (container.is_text()) {
    if (!item.is_text()) throw TemplateError{"'in <string>' requires string as left operand, not " + item.type_name()};
    return container.bytes().find(item.bytes()) != std::string::npos;
  }
  if (container.is_dict()) return container.dict().find(item) != nullptr;
  if (container.is_undefined()) return false;
  if (container.is_list()) {
    return std::any_of(container.items().begin(), container.items().end(), [&](const Value& v) { return equal(v, item); });
  }
  if (container.is_object()) {
    if (const std::vector<Value>* items = container.object()->iterate()) {
      return std::any_of(items->begin(), items->end(), [&](const Value& v) { return equal(v, item); });
    }
  }
  throw TemplateError{"argument of type '" + container.type_name() + "' is not iterable"};
}

Value string_value(std::string_view text) { return Value(Text(text, true)); }

}  // namespace outrider::jinja
