#include "cli/spec.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/nearest.h"

namespace outrider::cli {

namespace {

Error spec_error(const std::string& what, const std::string& hint) { return Error{"speculation: " + what, hint, ErrorKind::usage}; }

Result<double> number_of(const std::string& kind, const std::string& key, const std::string& value, double low, double high, bool whole) {
  char* end = nullptr;
  const double x = std::strtod(value.c_str(), &end);
  if (value.empty() || *end || !std::isfinite(x) || x < low || x > high || (whole && x != std::floor(x)))
    return spec_error(kind + ":" + key + " is «" + value + "»", "give a " + std::string(whole ? "whole number" : "number") + " from " + std::to_string(int(low)) + " to " + std::to_string(int(high)));
  return x;
}

constexpr SpecKey kKeys[] = {
    {"", "max", 0, 31, true, "31", "drafted tokens a round at most", [](SpecPlan& p, double x) { p.limits.max = int(x); }},
    {"", "min", 0, 31, true, "0", "shorter drafts are dropped", [](SpecPlan& p, double x) { p.limits.min = int(x); }},
    {"", "width", 1, 8, true, "4", "guesses that may be tried at one place; 1: chains", [](SpecPlan& p, double x) { p.width = int(x); }},
    {"", "fixed", 0, 1, true, "0", "1: draft all that is allowed, whatever it costs", [](SpecPlan& p, double x) { p.fixed = x > 0; }},
    {"lookup", "match", 1, 32, true, "1", "tokens that must agree", [](SpecPlan& p, double x) { p.source_options.shortest_match = int(x); }},
    {"model", "max", 0, 31, true, "31", "places it is asked for in a round at most", [](SpecPlan& p, double x) { p.model_max = int(x); }},
    {"model", "p_min", 0, 1, false, "0", "where it is less certain it says nothing", [](SpecPlan& p, double x) { p.limits.min_probability = float(x); }},
    {"model", "temp", 0, 100, false, "", "its own temperature; default: the request's", [](SpecPlan& p, double x) { p.draft_temperature = float(x); }},
    {"model", "top_k", 0, 1 << 24, true, "", "its own top-k; default: the request's", [](SpecPlan& p, double x) { p.draft_top_k = int32_t(x); }},
    {"model", "exact", 0, 1, true, "0", "1: as its file is, neither narrowed to four bits nor for likely tokens only", [](SpecPlan& p, double x) { p.exact = x > 0; }},
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
  found->set(plan, *x);
  return {};
}

Error unknown_kind(const std::string& kind) {
  std::vector<std::string> names = kind_names();
  if (kind == "auto" || kind == "off") return spec_error("«" + kind + "» stands alone, without keys or other kinds", "give it once, or name the kinds");
  if (kind.find(',') != std::string::npos) return spec_error("unknown kind «" + kind + "»", "name each kind by itself: --spec ngram --spec model");
  names.insert(names.begin(), {"auto", "off"});
  const std::string near = nearest(kind, names, 2);
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

Result<void> check_limits(const DraftLimits& limits) {
  if (limits.min <= limits.max || limits.max == 0) return {};
  return Error{"speculation: the shortest draft (" + std::to_string(limits.min) + ") is longer than the longest (" + std::to_string(limits.max) + ")",
               "lower --draft-min or raise --draft-max", ErrorKind::usage};
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
  if (auto r = check_limits(plan.limits); !r) return r.error();
  if (plan.model_max == 0) plan.model = false;
  if (plan.limits.max == 0) plan.model = false, plan.sources.clear();
  return plan;
}

Result<SpecPlan> plan_speculation(const Values& values) {
  SpecPlan plan;
  if (values.given("draft-max")) plan.limits.max = int(values.integer("draft-max"));
  plan.limits.min = int(values.integer("draft-min"));
  plan.limits.min_probability = float(values.number("draft-p-min"));
  if (values.given("draft-temp")) plan.draft_temperature = float(values.number("draft-temp"));
  if (values.given("draft-top-k")) plan.draft_top_k = int32_t(values.integer("draft-top-k"));
  return parse_spec(values.list("spec"), !values.text("draft").empty(), plan);
}

}  // namespace outrider::cli
