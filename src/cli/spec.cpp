#include "cli/spec.h"

#include <algorithm>

#include "cli/nearest.h"
#include "cli/numbers.h"

namespace outrider::cli {

namespace {

Error spec_error(const std::string& what, const std::string& hint) { return Error{"speculation: " + what, hint, ErrorKind::usage}; }

Result<double> number_of(const std::string& kind, const std::string& key, const std::string& value, double low, double high, bool whole) {
  const auto x = parse_number(value, whole);
  if (!x || *x < low || *x > high)
    return spec_error(kind + ":" + key + " is «" + value + "»", "give a " + std::string(whole ? "whole number" : "number") + " from " + std::to_string(int(low)) + " to " + std::to_string(int(high)));
  return *x;
}

using Plan = SpecPlan;
using Name = std::string_view;
KindLimits& limits(Plan& plan, Name kind) { return plan.kinds[std::string(kind)]; }

constexpr SpecKey kKeys[] = {
    {"", "max", 0, 31, true, "31", "drafted tokens of its own a round at most", [](Plan& p, Name kind, double x) { limits(p, kind).max = int(x); }},
    {"", "min", 0, 31, true, "0", "where it has fewer, they are dropped", [](Plan& p, Name kind, double x) { limits(p, kind).min = int(x); }},
    {"", "width", 1, kMostGuesses, true, "4", "guesses of its own that may be tried at one place; 1: chains", [](Plan& p, Name kind, double x) { limits(p, kind).width = int(x); }},
    {"", "fixed", 0, 1, true, "0", "1, on any kind: all draft what they may, whatever it costs", [](Plan& p, Name, double x) { p.fixed |= x > 0; }},
    {"lookup", "match", 1, 32, true, "1", "tokens that must agree", [](Plan& p, Name, double x) { p.source_options.shortest_match = int(x); }},
    {"model", "max", 0, 31, true, "31", "drafted tokens of its own, and places it is asked for, a round at most", [](Plan& p, Name kind, double x) { limits(p, kind).max = int(x); }},
    {"model", "p_min", 0, 1, false, "0", "where it is less certain it says nothing", [](Plan& p, Name, double x) { p.limits.min_probability = float(x); }},
    {"model", "temp", 0, 100, false, "", "its own temperature; default: the request's", [](Plan& p, Name, double x) { p.draft_temperature = float(x); }},
    {"model", "top_k", 0, 1 << 24, true, "", "its own top-k; default: the request's", [](Plan& p, Name, double x) { p.draft_top_k = int32_t(x); }},
    {"model", "exact", 0, 1, true, "0", "1: as its file is, neither narrowed to four bits nor for likely tokens only", [](Plan& p, Name, double x) { p.exact = x > 0; }},
};

std::vector<std::string> kind_names() {
  std::vector<std::string> names{"model", "ngram"};  // ngram: what lookup is called elsewhere
  for (const SourceKind& kind : source_kinds()) names.emplace_back(kind.name);
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Result<void> set_key(SpecPlan& plan, const std::string& kind, const std::string& key, const std::string& value) {
  const std::vector<SpecKey> keys = spec_keys(kind);
  const auto found = std::ranges::find(keys, key, &SpecKey::name);
  if (found == keys.end()) {
    std::vector<std::string> known;
    for (const SpecKey& k : keys) known.emplace_back(k.name);
    return spec_error(kind + " has no key «" + key + "»", "known keys: " + listed(known));
  }
  const auto x = number_of(kind, key, value, found->low, found->high, found->whole);
  if (!x) return x.error();
  found->set(plan, kind, *x);
  return {};
}

Error unknown_kind(const std::string& kind) {
  std::vector<std::string> names = kind_names();
  if (kind == "auto" || kind == "on" || kind == "off") return spec_error("«" + kind + "» stands alone, without keys or other kinds", "give it once, or name the kinds");
  if (kind.find(',') != std::string::npos) return spec_error("unknown kind «" + kind + "»", "name each kind by itself: --spec ngram --spec model");
  names.insert(names.begin(), {"auto", "off", "on"});
  const std::string near = nearest(kind, names, kind.size() > 3 ? 2 : 1);
  return spec_error("unknown kind «" + kind + "»", near.empty() ? "known kinds: " + listed(names) : "did you mean " + near + "?");
}

Result<void> parse_one(SpecPlan& plan, const std::string& spec) {
  const size_t colon = spec.find(':');
  const std::string name = spec.substr(0, colon), kind = name == "ngram" ? "lookup" : name;
  const SourceKind* source = find_source(kind);
  if (source) plan.sources.push_back(source->name);
  else if (kind == "model") plan.model = true;
  else return unknown_kind(name);
  std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string pair = rest.substr(0, comma);
    rest = rest.substr(std::min(comma + 1, rest.size()));
    const size_t equals = pair.find('=');
    if (equals == std::string::npos) return spec_error("«" + pair + "» is no key=value", "for example lookup:max=8,match=3");
    if (auto r = set_key(plan, kind, pair.substr(0, equals), pair.substr(equals + 1)); !r) return r;
  }
  return {};
}

Error too_long(const std::string& whose, int min, int max, const std::string& hint) {
  return spec_error(whose + " (" + std::to_string(min) + ") is longer than the longest (" + std::to_string(max) + ")", hint);
}

Result<void> check_limits(const SpecPlan& plan) {
  const DraftLimits& all = plan.limits;
  if (all.max == 0) return {};
  if (all.min > all.max) return too_long("the shortest draft", all.min, all.max, "lower --draft-min or raise --draft-max");
  for (const auto& [kind, own] : plan.kinds)
    if (own.max > 0 && own.min > std::min(own.max, all.max))
      return too_long("the shortest draft of " + kind, own.min, std::min(own.max, all.max), "lower " + kind + ":min or raise " + (own.max <= all.max ? kind + ":max" : "--draft-max"));
  return {};
}

}  // namespace

std::vector<SpecKind> spec_kinds() {
  std::vector<SpecKind> kinds;
  for (const SourceKind& kind : source_kinds()) kinds.push_back({kind.name, kind.help});
  kinds.push_back({"model", "what the model of --draft would write"});
  return kinds;
}

std::span<const SpecKey> all_spec_keys() { return kKeys; }

std::vector<SpecKey> spec_keys(std::string_view kind) {
  std::vector<SpecKey> keys;
  for (const SpecKey& key : kKeys) {
    if (!key.kind.empty() && key.kind != kind) continue;
    if (const auto same = std::ranges::find(keys, key.name, &SpecKey::name); same != keys.end()) *same = key;
    else keys.push_back(key);
  }
  return keys;
}

Result<SpecPlan> parse_spec(const std::vector<std::string>& specs, bool has_draft, SpecPlan plan) {
  if (specs.size() == 1 && specs[0] == "off") return plan;
  if (specs.empty() || (specs.size() == 1 && (specs[0] == "auto" || specs[0] == "on"))) {
    plan.automatic = true, plan.model = has_draft;
    for (const SourceKind& kind : source_kinds()) plan.sources.push_back(kind.name);
  } else {
    for (const std::string& spec : specs)
      if (auto r = parse_one(plan, spec); !r) return r.error();
    if (plan.model && !has_draft) return spec_error("«model» needs a draft model, and none is loaded", "name one with --draft FILE when outrider starts");
  }
  if (auto r = check_limits(plan); !r) return r.error();
  const auto silenced = [&](std::string_view kind) { return plan.limits.max == 0 || plan.limits_of(kind).max == 0; };
  plan.model &= !silenced("model");
  std::erase_if(plan.sources, silenced);
  return plan;
}

Result<SpecPlan> plan_speculation(const Values& values) { return plan_speculation(values, values.list("spec")); }

Result<SpecPlan> plan_speculation(const Values& values, const std::vector<std::string>& specs) {
  SpecPlan plan;
  if (values.given("draft-max")) plan.limits.max = int(values.integer("draft-max"));
  plan.limits.min = int(values.integer("draft-min"));
  plan.limits.min_probability = float(values.number("draft-p-min"));
  if (values.given("draft-temp")) plan.draft_temperature = float(values.number("draft-temp"));
  if (values.given("draft-top-k")) plan.draft_top_k = int32_t(values.integer("draft-top-k"));
  return parse_spec(specs, !values.text("draft").empty(), plan);
}

}  // namespace outrider::cli
