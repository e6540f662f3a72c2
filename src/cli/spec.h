#pragma once
// What --spec, --draft and the --draft-… limits together ask for.
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
  DraftLimits limits;
  int model_max = kMaxDraftRows - 1;  // places a draft model is asked for in a round
  bool exact = false;          // the draft model as its file is: not narrowed to four bits, no likely tokens only
  std::optional<float> draft_temperature;  // the draft model's own, instead of the request's
  std::optional<int32_t> draft_top_k;
  int width = 4;               // guesses that may share a parent
  SourceOptions source_options;

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
  void (*set)(SpecPlan& plan, double value);
};
std::vector<SpecKind> spec_kinds();
std::vector<SpecKey> spec_keys(std::string_view kind);
std::span<const SpecKey> all_spec_keys();

// `specs` are the values of --spec or words of /spec; `has_draft` whether there is a draft model. Unknown kinds and keys are errors that list the known ones.
Result<SpecPlan> parse_spec(const std::vector<std::string>& specs, bool has_draft, SpecPlan limits = {});
// The same from the options of a call.
Result<SpecPlan> plan_speculation(const Values& values);

}  // namespace outrider::cli
