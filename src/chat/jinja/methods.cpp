// Methods of strings, mappings and lists: those of Python that do not change their object (the reference runs templates in a
// sandbox without the others).
#include <utf8proc.h>

#include <algorithm>
#include <string_view>

#include "chat/jinja/objects.h"
#include "chat/jinja/text_ops.h"

namespace outrider::jinja {
namespace {

const Text& self(const Arguments& a) { return a.positional[0].text(); }

const Text& needed_text(const Arguments& a, size_t i, const char* name) {
  const Text* t = a.text(i, name);
  if (!t) throw TemplateError{std::string("argument '") + name + "' must be str"};
  return *t;
}

Value texts(Runner& r, std::vector<Text> parts) {
  std::vector<Value> items;
  for (Text& part : parts) items.push_back(r.text_value(std::move(part)));
  return r.list_value(std::move(items));
}

template <bool left, bool right>
Value str_strip(Runner& r, Arguments& a) {
  a.at_most(2);
  return r.text_value(strip(self(a), a.text(1, "chars"), left, right));
}

template <CaseMode mode>
Value str_case(Runner& r, Arguments& a) {
  a.at_most(1);
  return r.text_value(change_case(self(a), mode));
}

template <bool from_right>
Value str_split(Runner& r, Arguments& a) {
  a.at_most(3);
  const Text* separator = a.text(1, "sep");
  if (separator && separator->empty()) throw TemplateError{"empty separator"};
  const int64_t limit = a.integer(2, "maxsplit", -1);
  return texts(r, from_right ? split_from_right(self(a), separator, limit) : split(self(a), separator, limit));
}

Value str_splitlines(Runner& r, Arguments& a) {
  a.at_most(2);
  return texts(r, split_lines(self(a), a.flag(1, "keepends", false)));
}

Value str_replace(Runner& r, Arguments& a) {
  a.at_most(4);
  return r.text_value(replace(self(a), needed_text(a, 1, "old"), needed_text(a, 2, "new"), a.integer(3, "count", -1)));
}

Value str_join(Runner& r, Arguments& a) {
  a.at_most(2);
  std::vector<Text> parts;
  for (const Value& v : r.iterate(a.need(1, "iterable"))) {
    if (!v.is_text())
      throw TemplateError{"sequence item " + std::to_string(parts.size()) + ": expected str instance, " + v.type_name() + " found"};
    parts.push_back(v.text());
  }
  return r.text_value(join(parts, self(a)));
}

// The part of the string that find, count and startswith look at, as Python's optional start and end give it; in bytes.
struct Range { size_t begin, end; bool valid; };
Range range_of(const Arguments& a) {
  const std::vector<size_t> starts = character_starts(self(a).bytes());
  const int64_t size = int64_t(starts.size()) - 1;
  const auto place = [&](int64_t at) { return at < 0 ? std::max<int64_t>(at < -size ? 0 : at + size, 0) : at; };
  const int64_t begin = place(a.integer(2, "start", 0)), end = std::min(place(a.integer(3, "end", size)), size);
  if (begin > end) return {0, 0, false};
  return {starts[size_t(begin)], starts[size_t(end)], true};
}

template <bool at_end>
Value str_starts_or_ends(Runner& r, Arguments& a) {
  a.at_most(4);
  const Range range = range_of(a);
  const std::string_view inside = std::string_view(self(a).bytes()).substr(range.begin, range.end - range.begin);
  const auto matches = [&](const Value& v) {
    if (!v.is_text()) throw TemplateError{"the argument must be str or a tuple of str, not " + v.type_name()};
    return range.valid && (at_end ? inside.ends_with(v.bytes()) : inside.starts_with(v.bytes()));
  };
  const Value& what = a.need(1, "prefix");
  if (!what.is_list() || !what.list().tuple) return Value(matches(what));
  const std::vector<Value> options = r.iterate(what);
  return Value(std::any_of(options.begin(), options.end(), matches));
}

template <bool from_right, bool must_be_there>
Value str_find(Runner&, Arguments& a) {
  a.at_most(4);
  const std::string& bytes = self(a).bytes();
  const Text& what = needed_text(a, 1, "sub");
  const Range range = range_of(a);
  const std::string_view inside = std::string_view(bytes).substr(range.begin, range.end - range.begin);
  const size_t found = from_right ? inside.rfind(what.bytes()) : inside.find(what.bytes());
  if (!range.valid || found == std::string_view::npos) {
    if (must_be_there) throw TemplateError{"substring not found"};
    return Value(int64_t(-1));
  }
  return Value(int64_t(character_count(std::string_view(bytes).substr(0, range.begin + found))));
}

Value str_count(Runner&, Arguments& a) {
  a.at_most(4);
  const Text& what = needed_text(a, 1, "sub");
  const Range range = range_of(a);
  const std::string_view inside = std::string_view(self(a).bytes()).substr(range.begin, range.end - range.begin);
  if (!range.valid) return Value(int64_t(0));
  if (what.empty()) return Value(int64_t(character_count(inside)) + 1);
  int64_t count = 0;
  for (size_t at = inside.find(what.bytes()); at != std::string_view::npos; at = inside.find(what.bytes(), at + what.size())) count++;
  return Value(count);
}

template <bool suffix>
Value str_remove(Runner& r, Arguments& a) {
  a.at_most(2);
  const Text& text = self(a);
  const std::string& part = needed_text(a, 1, suffix ? "suffix" : "prefix").bytes();
  if (suffix && text.bytes().ends_with(part)) return r.text_value(text.substring(0, text.size() - part.size()));
  if (!suffix && text.bytes().starts_with(part)) return r.text_value(text.substring(part.size(), text.size()));
  return a.positional[0];
}

template <bool from_right>
Value str_partition(Runner& r, Arguments& a) {
  a.at_most(2);
  const Text& text = self(a);
  const Text& mark = needed_text(a, 1, "sep");
  if (mark.empty()) throw TemplateError{"empty separator"};
  const size_t found = from_right ? text.bytes().rfind(mark.bytes()) : text.bytes().find(mark.bytes());
  const Value nothing = string_value("");
  if (found == std::string::npos)
    return r.list_value(
        from_right ? std::vector<Value>{nothing, nothing, a.positional[0]} : std::vector<Value>{a.positional[0], nothing, nothing}, true);
  return r.list_value({r.text_value(text.substring(0, found)), r.text_value(text.substring(found, found + mark.size())),
                       r.text_value(text.substring(found + mark.size(), text.size()))}, true);
}

template <int side>
Value str_pad(Runner& r, Arguments& a) {
  a.at_most(2);
  return r.text_value(padded(self(a), a.integer(1, "width", 0), side));
}

enum class Kind { digit, letter, letter_or_digit, space, upper, lower };

// Kind::upper and lower: at least one cased letter, and none of the other case. The others: every character, and at least one.
template <Kind kind>
Value str_is(Runner&, Arguments& a) {
  a.at_most(1);
  const std::string& bytes = self(a).bytes();
  bool any = false;
  for (size_t at = 0; at < bytes.size(); at += character_size(bytes, at)) {
    const uint32_t c = character_at(bytes, at);
    const auto category = c >= 0xdc80 && c <= 0xdcff ? UTF8PROC_CATEGORY_CS : utf8proc_category(utf8proc_int32_t(c));
    const bool letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO, digit = category == UTF8PROC_CATEGORY_ND;
    if (kind == Kind::upper || kind == Kind::lower) {
      const auto good = kind == Kind::upper ? UTF8PROC_CATEGORY_LU : UTF8PROC_CATEGORY_LL;
      if (category == good) any = true;
      else if (category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT)
        return Value(false);
      continue;
    }
    any = true;
    const bool holds = kind == Kind::digit ? digit : kind == Kind::letter ? letter : kind == Kind::space ? is_space(c) : letter || digit;
    if (!holds) return Value(false);
  }
  return Value(any);
}

Value dict_items(Runner& r, Arguments& a) {
  a.at_most(1);
  std::vector<Value> items;
  for (const auto& [key, value] : a.positional[0].dict().entries) items.push_back(r.list_value({key, value}, true));
  return r.list_value(std::move(items));
}

Value dict_keys(Runner& r, Arguments& a) {
  a.at_most(1);
  std::vector<Value> items;
  for (const auto& entry : a.positional[0].dict().entries) items.push_back(entry.first);
  return r.list_value(std::move(items));
}

Value dict_values(Runner& r, Arguments& a) {
  a.at_most(1);
  std::vector<Value> items;
  for (const auto& entry : a.positional[0].dict().entries) items.push_back(entry.second);
  return r.list_value(std::move(items));
}

Value dict_get(Runner&, Arguments& a) {
  a.at_most(3);
  const Value* found = a.positional[0].dict().find(a.need(1, "key"));
  return found ? *found : a.get(2, "default", Value(None{}));
}

Value dict_copy(Runner&, Arguments& a) { return a.positional[0]; }

Value list_count(Runner& r, Arguments& a) {
  r.charge_comparing(a.positional[0]);
  const auto& items = a.positional[0].items();
  const Value& what = a.need(1, "value");
  return Value(int64_t(std::count_if(items.begin(), items.end(), [&](const Value& v) { return equal(v, what); })));
}

Value list_index(Runner& r, Arguments& a) {
  r.charge_comparing(a.positional[0]);
  const auto& items = a.positional[0].items();
  const Value& what = a.need(1, "value");
  const auto place = std::find_if(items.begin(), items.end(), [&](const Value& v) { return equal(v, what); });
  if (place == items.end()) throw TemplateError{repr(what).bytes() + " is not in list"};
  return Value(int64_t(place - items.begin()));
}

Value refused(Runner&, Arguments&) { throw TemplateError{"a template may not change a list or a mapping"}; }

struct Entry {
  std::string_view name;
  Builtin method;
};

constexpr Entry kStringMethods[] = {
    {"strip", str_strip<true, true>}, {"lstrip", str_strip<true, false>}, {"rstrip", str_strip<false, true>},
    {"upper", str_case<CaseMode::upper>}, {"lower", str_case<CaseMode::lower>}, {"casefold", str_case<CaseMode::lower>},
    {"capitalize", str_case<CaseMode::capitalize>}, {"title", str_case<CaseMode::title_words>},
    {"split", str_split<false>}, {"rsplit", str_split<true>}, {"splitlines", str_splitlines},
    {"startswith", str_starts_or_ends<false>}, {"endswith", str_starts_or_ends<true>},
    {"replace", str_replace}, {"join", str_join}, {"count", str_count},
    {"find", str_find<false, false>}, {"rfind", str_find<true, false>}, {"index", str_find<false, true>}, {"rindex", str_find<true, true>},
    {"removeprefix", str_remove<false>}, {"removesuffix", str_remove<true>},
    {"partition", str_partition<false>}, {"rpartition", str_partition<true>},
    {"ljust", str_pad<-1>}, {"center", str_pad<0>}, {"rjust", str_pad<1>},
    {"isdigit", str_is<Kind::digit>}, {"isnumeric", str_is<Kind::digit>}, {"isdecimal", str_is<Kind::digit>},
    {"isalpha", str_is<Kind::letter>}, {"isalnum", str_is<Kind::letter_or_digit>}, {"isspace", str_is<Kind::space>},
    {"isupper", str_is<Kind::upper>}, {"islower", str_is<Kind::lower>},
};
constexpr Entry kDictMethods[] = {
    {"items", dict_items}, {"keys", dict_keys}, {"values", dict_values}, {"get", dict_get}, {"copy", dict_copy},
    {"pop", refused}, {"popitem", refused}, {"update", refused}, {"clear", refused}, {"setdefault", refused},
};
constexpr Entry kListMethods[] = {
    {"count", list_count}, {"index", list_index}, {"append", refused}, {"extend", refused}, {"insert", refused},
    {"pop", refused}, {"remove", refused}, {"reverse", refused}, {"sort", refused}, {"clear", refused},
};

}  // namespace

Value bound_method(const Value& receiver, const std::string& name) {
  const auto look = [&](const auto& table) -> Value {
    for (const Entry& entry : table) {
      if (entry.name == name) return Value(std::shared_ptr<Object>(std::make_shared<BoundMethod>(entry.method, receiver)));
    }
    return {};
  };
  if (receiver.is_text()) return look(kStringMethods);
  if (receiver.is_dict()) return look(kDictMethods);
  if (receiver.is_list()) return look(kListMethods);
  return {};
}

}  // namespace outrider::jinja
