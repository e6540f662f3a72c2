// tojson as transformers defines it: json.dumps(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False).
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "chat/jinja/runner.h"

namespace outrider::jinja {
namespace {

class JsonWriter {
 public:
  Text out;
  bool ascii = false, sorted = false, indented = false;
  Text indent, item_separator = Text(", ", true), key_separator = Text(": ", true);

  void write(const Value& v, int level = 0) {
    if (v.is_none()) out.append("null", true);
    else if (v.is_bool()) out.append(v.boolean() ? "true" : "false", true);
    else if (v.is_int()) out.append(std::to_string(v.integer()), true);
    else if (v.is_float()) out.append(number(v.number()), true);
    else if (v.is_text()) write_string(v.text());
    else if (v.is_list()) write_list(v.items(), level);
    else if (v.is_dict()) write_dict(v.dict(), level);
    else throw TemplateError{"Object of type " + v.type_name() + " is not JSON serializable"};
  }

 private:
  static std::string number(double d) {
    if (std::isnan(d)) return "NaN";
    if (std::isinf(d)) return d < 0 ? "-Infinity" : "Infinity";
    return float_repr(d);
  }

  void new_line(int level) {
    if (!indented) return;
    out.append("\n", true);
    for (int i = 0; i < level; i++) out.append(indent);
  }

  void write_list(const std::vector<Value>& items, int level) {
    out.append("[", true);
    for (size_t i = 0; i < items.size(); i++) {
      if (i > 0) out.append(item_separator);
      new_line(level + 1);
      write(items[i], level + 1);
    }
    if (!items.empty()) new_line(level);
    out.append("]", true);
  }

  void write_dict(const Dict& dict, int level) {
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : dict.entries) entries.push_back(&entry);
    if (sorted) std::stable_sort(entries.begin(), entries.end(), [](auto* a, auto* b) { return compare(a->first, b->first, "<") < 0; });
    out.append("{", true);
    for (size_t i = 0; i < entries.size(); i++) {
      if (i > 0) out.append(item_separator);
      new_line(level + 1);
      write_key(entries[i]->first);
      out.append(key_separator);
      write(entries[i]->second, level + 1);
    }
    if (!entries.empty()) new_line(level);
    out.append("}", true);
  }

  void write_key(const Value& key) {
    if (key.is_text()) return write_string(key.text());
    if (!key.is_number() && !key.is_none()) throw TemplateError{"keys must be str, int, float, bool or None, not " + key.type_name()};
    out.append("\"", true);
    write(key);
    out.append("\"", true);
  }

  void write_string(const Text& text) {
    const std::string& bytes = text.bytes();
    out.append("\"", true);
    for (size_t at = 0; at < bytes.size();) {
      const uint32_t c = character_at(bytes, at);
      const size_t size = character_size(bytes, at);
      const std::string escaped = escape(c);
      out.append_like(escaped.empty() ? std::string_view(bytes).substr(at, size) : std::string_view(escaped), text, at);
      at += size;
    }
    out.append("\"", true);
  }

  std::string escape(uint32_t c) const {
    switch (c) {
      case '"': return "\\\"";
      case '\\': return "\\\\";
      case '\n': return "\\n";
      case '\r': return "\\r";
      case '\t': return "\\t";
      case '\b': return "\\b";
      case '\f': return "\\f";
      default: break;
    }
    char text[16];
    if (c < 0x20 || (ascii && c >= 0x7f && c < 0x10000)) {
      std::snprintf(text, sizeof text, "\\u%04x", c);
      return text;
    }
    if (!ascii || c < 0x7f) return {};
    std::snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
    return text;
  }
};

}  // namespace

Value tojson(Runner& runner, Arguments& a) {
  a.at_most(5);
  JsonWriter writer;
  writer.ascii = a.flag(1, "ensure_ascii", false);
  writer.sorted = a.flag(4, "sort_keys", false);
  const Value indent = a.get(2, "indent", Value(None{})), separators = a.get(3, "separators", Value(None{}));
  if (!indent.is_none()) {
    writer.indented = true;
    writer.item_separator = Text(",", true);
    if (indent.is_text()) writer.indent = indent.text();
    else writer.indent = Text(std::string(size_t(std::clamp<int64_t>(a.integer(2, "indent", 0), 0, 64)), ' '), true);
  }
  if (!separators.is_none()) {
    const std::vector<Value> pair = runner.iterate(separators);
    if (pair.size() != 2 || !pair[0].is_text() || !pair[1].is_text()) throw TemplateError{"tojson: separators must be two strings"};
    writer.item_separator = pair[0].text();
    writer.key_separator = pair[1].text();
  }
  writer.write(a.need(0, "value"));
  return runner.text_value(std::move(writer.out));
}

}  // namespace outrider::jinja
