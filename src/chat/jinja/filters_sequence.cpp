// Filters over sequences and mappings.
#include <algorithm>

#include "chat/jinja/filters.h"
#include "chat/jinja/objects.h"
#include "chat/jinja/text_ops.h"

namespace outrider::jinja {

Value case_folded(const Value& value, bool case_sensitive) {
  return value.is_text() && !case_sensitive ? Value(change_case(value.text(), CaseMode::lower)) : value;
}

// «a.b.0»: attribute by attribute, numbers as indices; the fallback stands in wherever one is missing.
Value dotted_attribute(Runner& runner, const Value& object, const Value& path, const Value* fallback) {
  const auto or_fallback = [&](Value found) { return found.is_undefined() && fallback && !fallback->is_none() ? *fallback : found; };
  if (!path.is_text()) return or_fallback(runner.item(object, path));
  Value value = object;
  const Text dot(".", true);
  for (const Text& part : split(path.text(), &dot, -1)) {
    const std::string& name = part.bytes();
    const bool number =
        !name.empty() && name.size() < 10 && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    value = or_fallback(runner.item(value, number ? Value(int64_t(std::stoll(name))) : Value(part)));
  }
  return value;
}

namespace {

Value generator(std::vector<Value> items) { return Value(std::shared_ptr<Object>(std::make_shared<Generator>(std::move(items)))); }

Value to_list(Runner& r, Arguments& a) { return r.list_value(r.iterate(a.need(0, "value"))); }

Value items(Runner& r, Arguments& a) {
  const Value& v = a.need(0, "value");
  std::vector<Value> pairs;
  if (v.is_undefined()) return generator({});
  if (!v.is_dict()) throw TemplateError{"Can only get item pairs from a mapping."};
  for (const auto& [key, value] : v.dict().entries) pairs.push_back(r.list_value({key, value}, true));
  return generator(std::move(pairs));
}

Value join_items(Runner& r, Arguments& a) {
  a.at_most(3);
  const Value attribute = a.get(2, "attribute", Value(None{}));
  std::vector<Text> parts;
  for (const Value& v : r.iterate(a.need(0, "value")))
    parts.push_back(to_text(attribute.is_none() ? v : dotted_attribute(r, v, attribute)));
  return r.text_value(join(parts, to_text(a.get(1, "d", string_value("")))));
}

Value reverse(Runner& r, Arguments& a) {
  const Value& v = a.need(0, "value");
  std::vector<Value> list = r.iterate(v);
  std::reverse(list.begin(), list.end());
  if (!v.is_text()) return generator(std::move(list));
  Text out;
  for (const Value& c : list) out.append(c.text());
  return r.text_value(std::move(out));
}

// Arguments of map, select …: the sequence, then a filter's or test's name with its own arguments.
Arguments rest_of(const Arguments& a, size_t from, const Value& subject) {
  Arguments rest;
  rest.positional.push_back(subject);
  for (size_t i = from; i < a.positional.size(); i++) rest.positional.push_back(a.positional[i]);
  rest.keyword = a.keyword;
  return rest;
}

std::string name_of(const Arguments& a, size_t i) {
  if (i >= a.positional.size() || !a.positional[i].is_text()) throw TemplateError{"the name of a filter or test is missing"};
  return a.positional[i].bytes();
}

Value map(Runner& r, Arguments& a) {
  const Value& over = a.need(0, "value");
  if (!over.truthy()) return generator({});
  const Value* attribute = a.find(99, "attribute");
  const Value* fallback = a.find(99, "default");
  std::vector<Value> out;
  if (a.positional.size() < 2 && !attribute) throw TemplateError{"map requires a filter argument"};
  for (const Value& v : r.iterate(over)) {
    if (a.positional.size() < 2) {
      out.push_back(dotted_attribute(r, v, *attribute, fallback));
    } else {
      Arguments rest = rest_of(a, 2, v);
      out.push_back(r.filter(name_of(a, 1), rest));
    }
  }
  return generator(std::move(out));
}

template <bool keep, bool by_attribute>
Value select(Runner& r, Arguments& a) {
  const Value& over = a.need(0, "value");
  if (!over.truthy()) return generator({});
  constexpr size_t kTest = by_attribute ? 2 : 1;
  if (by_attribute && a.positional.size() < 2) throw TemplateError{"Missing parameter for attribute name"};
  std::vector<Value> out;
  for (const Value& v : r.iterate(over)) {
    const Value subject = by_attribute ? dotted_attribute(r, v, a.positional[1]) : v;
    bool passes;
    if (a.positional.size() <= kTest) {
      passes = subject.truthy();
    } else {
      Arguments rest = rest_of(a, kTest + 1, subject);
      passes = r.test(name_of(a, kTest), rest);
    }
    if (passes == keep) out.push_back(v);
  }
  return generator(std::move(out));
}

struct Keyed { Value key, value; };

void stable_sort_keyed(Runner& r, std::vector<Keyed>& keyed, bool reverse) {
  r.charge_steps(int64_t(keyed.size()) * 8);
  for (const Keyed& k : keyed) r.charge_comparing(k.key);
  std::stable_sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) {
    return reverse ? compare(b.key, a.key, "<") < 0 && compare(b.key, a.key, "<") != 2 : compare(a.key, b.key, "<") == -1;
  });
}

std::vector<Keyed> keyed_items(Runner& r, const Value& over, const Value& attribute, bool case_sensitive) {
  std::vector<Keyed> keyed;
  for (const Value& v : r.iterate(over)) {
    keyed.push_back({case_folded(attribute.is_none() ? v : dotted_attribute(r, v, attribute), case_sensitive), v});
  }
  return keyed;
}

// «a,b.c»: the key is a list of all of them. A list of one too, so that items that lack the attribute are equal rather than an error.
std::vector<Keyed> keyed_by_list(Runner& r, const Value& over, const Value& attributes, bool case_sensitive) {
  const Text comma(",", true);
  std::vector<Value> paths;
  if (attributes.is_text()) {
    for (Text& path : split(attributes.text(), &comma, -1)) paths.push_back(Value(std::move(path)));
  } else {
    paths.push_back(attributes);
  }
  std::vector<Keyed> keyed;
  for (const Value& v : r.iterate(over)) {
    std::vector<Value> keys;
    for (const Value& path : paths) keys.push_back(case_folded(dotted_attribute(r, v, path), case_sensitive));
    keyed.push_back({r.list_value(std::move(keys)), v});
  }
  return keyed;
}

Value sort(Runner& r, Arguments& a) {
  a.at_most(4);
  const Value attribute = a.get(3, "attribute", Value(None{}));
  const bool case_sensitive = a.flag(2, "case_sensitive", false);
  const Value& over = a.need(0, "value");
  std::vector<Keyed> keyed = attribute.is_none() ? keyed_items(r, over, attribute, case_sensitive) : keyed_by_list(r, over, attribute, case_sensitive);
  stable_sort_keyed(r, keyed, a.flag(1, "reverse", false));
  std::vector<Value> out;
  for (Keyed& k : keyed) out.push_back(std::move(k.value));
  return r.list_value(std::move(out));
}

Value dictsort(Runner& r, Arguments& a) {
  a.at_most(4);
  const Value& v = a.need(0, "value");
  if (!v.is_dict()) throw TemplateError{"'" + v.type_name() + "' object has no attribute 'items'"};
  const Text* by = a.text(2, "by");
  const bool by_value = by && by->bytes() == "value";
  if (by && !by_value && by->bytes() != "key") throw TemplateError{"You can only sort by either \"key\" or \"value\""};
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : v.dict().entries) {
    keyed.push_back({case_folded(by_value ? value : key, a.flag(1, "case_sensitive", false)), r.list_value({key, value}, true)});
  }
  stable_sort_keyed(r, keyed, a.flag(3, "reverse", false));
  std::vector<Value> out;
  for (Keyed& k : keyed) out.push_back(std::move(k.value));
  return r.list_value(std::move(out));
}

template <bool largest>
Value extreme(Runner& r, Arguments& a) {
  a.at_most(3);
  const std::vector<Keyed> keyed =
      keyed_items(r, a.need(0, "value"), a.get(2, "attribute", Value(None{})), a.flag(1, "case_sensitive", false));
  if (keyed.empty()) return Value::undefined("No aggregated item, sequence was empty.");
  const Keyed* best = &keyed[0];
  for (const Keyed& k : keyed) {
    r.charge_comparing(k.key);
    if (largest ? compare(best->key, k.key, ">") == -1 : compare(k.key, best->key, "<") == -1) best = &k;
  }
  return best->value;
}

Value unique(Runner& r, Arguments& a) {
  a.at_most(3);
  Dict seen;
  std::vector<Value> out;
  for (Keyed& k : keyed_items(r, a.need(0, "value"), a.get(2, "attribute", Value(None{})), a.flag(1, "case_sensitive", false))) {
    r.charge_comparing(k.key);
    if (seen.find(k.key)) continue;
    seen.set(k.key, Value(true));
    out.push_back(std::move(k.value));
  }
  return generator(std::move(out));
}

Value groupby(Runner& r, Arguments& a) {
  a.at_most(4);
  const Value attribute = a.need(1, "attribute");
  const Value* fallback = a.find(2, "default");
  const bool case_sensitive = a.flag(3, "case_sensitive", false);
  std::vector<Keyed> keyed;
  for (const Value& v : r.iterate(a.need(0, "value")))
    keyed.push_back({case_folded(dotted_attribute(r, v, attribute, fallback), case_sensitive), v});
  stable_sort_keyed(r, keyed, false);
  std::vector<Value> groups;
  for (size_t i = 0; i < keyed.size();) {
    const Value key = keyed[i].key, shown = dotted_attribute(r, keyed[i].value, attribute, fallback);
    std::vector<Value> members;
    for (; i < keyed.size() && equal(keyed[i].key, key); i++) members.push_back(keyed[i].value);
    const Value pair = r.list_value({shown, r.list_value(std::move(members))}, true);
    auto group = std::make_shared<List>(pair.list());
    group->group = true;
    groups.push_back(Value(std::shared_ptr<const List>(std::move(group))));
  }
  return r.list_value(std::move(groups));
}

Value sum(Runner& r, Arguments& a) {
  a.at_most(3);
  const Value attribute = a.get(1, "attribute", Value(None{}));
  Value total = a.get(2, "start", Value(int64_t(0)));
  if (total.is_text()) throw TemplateError{"sum() can't sum strings [use ''.join(seq) instead]"};
  for (const Value& v : r.iterate(a.need(0, "iterable")))
    total = r.arithmetic(ExprKind::add, total, attribute.is_none() ? v : dotted_attribute(r, v, attribute));
  return total;
}

Value batch(Runner& r, Arguments& a) {
  a.at_most(3);
  const int64_t size = a.integer(1, "linecount", 1);
  const Value fill = a.get(2, "fill_with", Value(None{}));
  if (size < 1 || size > 100000) throw TemplateError{"batch: the size must be from 1 to 100000"};
  std::vector<Value> out, row;
  for (Value& v : r.iterate(a.need(0, "value"))) {
    if (int64_t(row.size()) == size) out.push_back(r.list_value(std::exchange(row, {})));
    row.push_back(std::move(v));
  }
  while (!row.empty() && !fill.is_none() && int64_t(row.size()) < size) row.push_back(fill);
  if (!row.empty()) out.push_back(r.list_value(std::move(row)));
  return generator(std::move(out));
}

Value slices(Runner& r, Arguments& a) {
  a.at_most(3);
  const std::vector<Value> all = r.iterate(a.need(0, "value"));
  const int64_t count = a.integer(1, "slices", 1);
  const Value fill = a.get(2, "fill_with", Value(None{}));
  if (count < 1 || count > 100000) throw TemplateError{"slice: the number of slices must be from 1 to 100000"};
  const size_t each = all.size() / size_t(count), larger = all.size() % size_t(count);
  std::vector<Value> out;
  size_t at = 0;
  for (size_t i = 0; i < size_t(count); i++) {
    const size_t length = each + (i < larger);
    std::vector<Value> part(all.begin() + std::ptrdiff_t(at), all.begin() + std::ptrdiff_t(at + length));
    at += length;
    if (!fill.is_none() && i >= larger) part.push_back(fill);
    out.push_back(r.list_value(std::move(part)));
  }
  return generator(std::move(out));
}

}  // namespace

constexpr FilterEntry kSequenceFilters[] = {
    {"list", to_list},
    {"items", items},
    {"join", join_items},
    {"reverse", reverse},
    {"map", map},
    {"select", select<true, false>},
    {"reject", select<false, false>},
    {"selectattr", select<true, true>},
    {"rejectattr", select<false, true>},
    {"sort", sort},
    {"dictsort", dictsort},
    {"max", extreme<true>},
    {"min", extreme<false>},
    {"unique", unique},
    {"groupby", groupby},
    {"sum", sum},
    {"batch", batch},
    {"slice", slices},
};
std::span<const FilterEntry> sequence_filters() { return kSequenceFilters; }

}  // namespace outrider::jinja
