#pragma once
// What --spec, --draft and the --draft-… limits together ask for.
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "draft/drafter.h"

namespace outrider::cli {

struct SpecPlan {
  bool ngram = false, model = false;
  bool automatic = false;  // the user left the choice to us
  DraftLimits ngram_limits{.max = 8, .min = 0, .min_probability = 0};
  DraftLimits model_limits{.max = 4, .min = 0, .min_probability = 0.6f};
  int shortest_match = 3;  // tokens of an n-gram match
  int long_match = 3;      // from here on the n-gram is asked before the model: a free guess against passes of a model

  bool off() const { return !ngram && !model; }
};

// `specs` are the values of --spec or words of /spec; `has_draft` whether there is a draft model. Unknown kinds and keys are errors that list the known ones.
Result<SpecPlan> parse_spec(const std::vector<std::string>& specs, bool has_draft, SpecPlan limits = {});
// The same from the options of a call.
Result<SpecPlan> plan_speculation(const Values& values);

}  // namespace outrider::cli
