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

Result<void> set_key(SpecPlan& plan, const std::string& kind, const std::string& key, const std::string& value) {
  const bool model = kind == "model";
  DraftLimits& limits = model ? plan.model_limits : plan.ngram_limits;
  const bool known = key == "max" || key == "min" || (model ? key == "p_min" : key == "match" || key == "long");
  if (!known) return spec_error(kind + " has no key «" + key + "»", model ? "known keys: max, min, p_min" : "known keys: max, min, match, long");
  const auto x = key == "p_min" ? number_of(kind, key, value, 0, 1, false) : number_of(kind, key, value, key == "match" || key == "long" ? 1 : 0, key == "long" ? 32 : 31, true);
  if (!x) return x.error();
  if (key == "max") limits.max = int(*x);
  if (key == "min") limits.min = int(*x);
  if (key == "p_min") limits.min_probability = float(*x);
  if (key == "match") plan.shortest_match = int(*x);
  if (key == "long") plan.long_match = int(*x);
  return {};
}

Error unknown_kind(const std::string& kind) {
  const std::string kKinds[] = {"auto", "off", "model", "ngram"};
  if (std::ranges::find(kKinds, kind) != std::end(kKinds)) return spec_error("«" + kind + "» stands alone, without keys or other kinds", "give it once, or name the kinds");
  if (kind.find(',') != std::string::npos) return spec_error("unknown kind «" + kind + "»", "name each kind by itself: --spec ngram --spec model");
  const std::string near = nearest(kind, kKinds, 2);
  return spec_error("unknown kind «" + kind + "»", near.empty() ? "known kinds: auto, off, model, ngram" : "did you mean " + near + "?");
}

Result<void> parse_one(SpecPlan& plan, const std::string& spec) {
  const size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  if (kind != "model" && kind != "ngram") return unknown_kind(kind);
  (kind == "model" ? plan.model : plan.ngram) = true;
  std::string rest = colon == std::string::npos ? "" : spec.substr(colon + 1);
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string pair = rest.substr(0, comma);
    rest = rest.substr(std::min(comma + 1, rest.size()));
    const size_t equals = pair.find('=');
    if (equals == std::string::npos) return spec_error("«" + pair + "» is no key=value", "for example ngram:max=8,match=3");
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

Result<SpecPlan> parse_spec(const std::vector<std::string>& specs, bool has_draft, SpecPlan plan) {
  if (specs.size() == 1 && specs[0] == "off") return plan;
  if (specs.empty() || (specs.size() == 1 && (specs[0] == "auto" || specs[0] == "on"))) {
    plan.automatic = plan.ngram = true;
    plan.model = has_draft;
  } else {
    for (const std::string& spec : specs)
      if (auto r = parse_one(plan, spec); !r) return r.error();
    if (plan.model && !has_draft) return spec_error("«model» needs a draft model, and none is loaded", "name one with --draft FILE when outrider starts");
  }
  if (plan.model)
    if (auto r = check_limits(plan.model_limits); !r) return r.error();
  if (plan.ngram)
    if (auto r = check_limits(plan.ngram_limits); !r) return r.error();
  if (plan.model_limits.max == 0) plan.model = false;
  if (plan.ngram_limits.max == 0) plan.ngram = false;
  return plan;
}

Result<SpecPlan> plan_speculation(const Values& values) {
  SpecPlan plan;
  if (values.given("draft-max")) plan.model_limits.max = plan.ngram_limits.max = int(values.integer("draft-max"));
  plan.model_limits.min = plan.ngram_limits.min = int(values.integer("draft-min"));
  plan.model_limits.min_probability = float(values.number("draft-p-min"));
  return parse_spec(values.list("spec"), !values.text("draft").empty(), plan);
}

}  // namespace outrider::cli
