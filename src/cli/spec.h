#pragma once
// What --spec, --draft and the --draft-… limits together ask for.
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
  int width = 4;               // guesses that may share a parent
  SourceOptions source_options;

  bool off() const { return sources.empty() && !model; }
};

// `specs` are the values of --spec or words of /spec; `has_draft` whether there is a draft model. Unknown kinds and keys are errors that list the known ones.
Result<SpecPlan> parse_spec(const std::vector<std::string>& specs, bool has_draft, SpecPlan limits = {});
// The same from the options of a call.
Result<SpecPlan> plan_speculation(const Values& values);

}  // namespace outrider::cli
