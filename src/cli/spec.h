#pragma once
// What --spec, --draft and the --draft-… limits together ask for.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "draft/drafter.h"
#include "draft/kinds.h"

namespace outrider::cli {

struct SpecPlan {
  std::vector<std::string_view> sources;  // names of free sources
  bool model = false;
  bool automatic = false;      // the user left the choice of kinds to us
  bool fixed = false;          // draft what the limits allow, without weighing what it costs
  DraftLimits limits;          // of all together
  std::map<std::string, KindLimits, std::less<>> kinds;  // of each by its name, within those; where there is none, the defaults
  bool exact = false;          // the draft model as its file is: not narrowed to four bits, no likely tokens only
  std::optional<float> draft_temperature;  // the draft model's own, instead of the request's
  std::optional<int32_t> draft_top_k;
  SourceOptions source_options;

  KindLimits limits_of(std::string_view kind) const {
    const auto found = kinds.find(kind);
    return found == kinds.end() ? KindLimits() : found->second;
  }
  bool off() const { return sources.empty() && !model; }
};

// Who may draft, and the keys that KIND:key=value takes: for parsing, help and `options --json`.
struct SpecKind {
  std::string_view name, help;
};
struct SpecKey {
  std::string_view kind;  // that takes it; "" = every kind that has no key of this name to itself
  std::string_view name;
  double low, high;
  bool whole;
  std::string_view fallback;  // "" = none
  std::string_view help;
  void (*set)(SpecPlan& plan, std::string_view kind, double value);
};
std::vector<SpecKind> spec_kinds();
std::vector<SpecKey> spec_keys(std::string_view kind);
std::span<const SpecKey> all_spec_keys();

// `specs` are the values of --spec or words of /spec; `has_draft` whether there is a draft model. Unknown kinds and keys are errors that list the known ones.
Result<SpecPlan> parse_spec(const std::vector<std::string>& specs, bool has_draft, SpecPlan limits = {});
// The same from the options of a call, and with `specs` in the place of its --spec.
Result<SpecPlan> plan_speculation(const Values& values);
Result<SpecPlan> plan_speculation(const Values& values, const std::vector<std::string>& specs);

}  // namespace outrider::cli
