// Filters over text. Like the reference they take str() of whatever comes in.
#include <algorithm>
#include <ctime>

#include "chat/jinja/filters.h"
#include "chat/jinja/objects.h"
#include "chat/jinja/text_ops.h"

namespace outrider::jinja {
namespace {

Text input(const Arguments& a) { return to_text(a.need(0, "s")); }

template <CaseMode mode>
Value change(Runner& r, Arguments& a) {
  a.at_most(1);
  return r.text_value(change_case(input(a), mode));
}

Value trim(Runner& r, Arguments& a) {
  a.at_most(2);
  return r.text_value(strip(input(a), a.text(1, "chars"), true, true));
}

Value string(Runner& r, Arguments& a) {
  a.at_most(1);
  return r.text_value(input(a));
}

Value replace_all(Runner& r, Arguments& a) {
  a.at_most(4);
  const int64_t count = a.find(3, "count") && a.find(3, "count")->is_none() ? -1 : a.integer(3, "count", -1);
  return r.text_value(replace(input(a), to_text(a.need(1, "old")), to_text(a.need(2, "new")), count));
}

Value escape(Runner& r, Arguments& a) {
  a.at_most(1);
  const Text text = input(a);
  Text out;
  for (size_t at = 0; at < text.size(); at++) {
    const char c = text.bytes()[at];
    const char* changed = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '\'' ? "&#39;" : c == '"' ? "&#34;" : nullptr;
    if (changed) out.append_like(changed, text, at);
    else out.append(text, at, at + 1);
  }
  return r.text_value(std::move(out));
}

// Unlike the others these two need a string.
const Text& only_text(const Arguments& a) {
  const Value& v = a.need(0, "s");
  if (v.is_undefined()) throw TemplateError{v.why_undefined()};
  if (!v.is_text()) throw TemplateError{"expected a string, not " + v.type_name()};
  return v.text();
}

Value indent(Runner& r, Arguments& a) {
  a.at_most(4);
  const Value width = a.get(1, "width", Value(int64_t(4)));
  const Text space =
      width.is_text() ? width.text() : Text(std::string(size_t(std::clamp<int64_t>(a.integer(1, "width", 4), 0, 1000)), ' '), true);
  const bool first = a.flag(2, "first", false), blank = a.flag(3, "blank", false);
  Text text = only_text(a);
  text.append("\n", true);  // so that a last line without an end counts as one
  const std::vector<Text> lines = split_lines(text, false);
  Text out;
  for (size_t i = 0; i < lines.size(); i++) {
    if (i > 0) out.append("\n", true);
    if (i == 0 ? first : blank || !lines[i].empty()) out.append(space);
    out.append(lines[i]);
  }
  return r.text_value(std::move(out));
}

Value truncate(Runner& r, Arguments& a) {
  a.at_most(5);
  const Text& text = only_text(a);
  const int64_t length = a.integer(1, "length", 255),
                leeway = a.find(4, "leeway") && !a.find(4, "leeway")->is_none() ? a.integer(4, "leeway", 5) : 5;
  const Text* given_end = a.text(3, "end");
  const Text end = given_end ? *given_end : Text("...", true);
  const std::vector<size_t> starts = character_starts(text.bytes());
  const int64_t size = int64_t(starts.size()) - 1, kept = length - int64_t(character_count(end.bytes()));
  if (kept < 0)
    throw TemplateError{"expected length >= " + std::to_string(character_count(end.bytes())) + ", got " + std::to_string(length)};
  if (size <= length + leeway) return r.text_value(text);
  Text out = text.substring(0, starts[size_t(std::min(kept, size))]);
  if (!a.flag(2, "killwords", false)) {
    const size_t space = out.bytes().rfind(' ');
    if (space != std::string::npos) out = out.substring(0, space);
  }
  out.append(end);
  return r.text_value(std::move(out));
}

Value center(Runner& r, Arguments& a) {
  a.at_most(2);
  return r.text_value(padded(input(a), a.integer(1, "width", 80), 0));
}

Value format(Runner& r, Arguments& a) {
  const std::vector<Value> values(a.positional.begin() + 1, a.positional.end());
  std::vector<std::pair<Value, Value>> named;
  for (auto& [key, value] : a.keyword) named.emplace_back(string_value(key), value);
  if (!values.empty() && !named.empty()) throw TemplateError{"can't handle positional and keyword arguments at the same time"};
  const Value mapping = make_dict(std::move(named));
  return r.text_value(percent_format(r, input(a), values, a.keyword.empty() ? nullptr : &mapping));
}

Value wordcount(Runner&, Arguments& a) {
  const Text text = input(a);
  int64_t count = 0;
  bool inside = false;
  for (size_t at = 0; at < text.size(); at++) {
    const auto c = uint8_t(text.bytes()[at]);
    const bool word = c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    count += word && !inside;
    inside = word;
  }
  return Value(count);
}

Value urlencode(Runner& r, Arguments& a) {
  const Text text = input(a);
  Text out;
  for (size_t at = 0; at < text.size(); at++) {
    const char c = text.bytes()[at];
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("_.-~/").find(c) != std::string_view::npos;
    char code[8];
    std::snprintf(code, sizeof code, "%%%02X", uint8_t(c));
    out.append_like(plain ? std::string_view(&c, 1) : std::string_view(code), text, at);
  }
  return r.text_value(std::move(out));
}

Value safe(Runner&, Arguments& a) { return a.need(0, "value"); }

}  // namespace

constexpr FilterEntry kTextFilters[] = {
    {"upper", change<CaseMode::upper>}, {"lower", change<CaseMode::lower>}, {"capitalize", change<CaseMode::capitalize>},
    {"title", change<CaseMode::title_filter>}, {"trim", trim}, {"string", string}, {"replace", replace_all},
    {"e", escape}, {"escape", escape}, {"forceescape", escape}, {"safe", safe}, {"indent", indent}, {"truncate", truncate},
    {"center", center}, {"format", format}, {"wordcount", wordcount}, {"urlencode", urlencode}, {"tojson", tojson},
};
std::span<const FilterEntry> text_filters() { return kTextFilters; }

}  // namespace outrider::jinja
