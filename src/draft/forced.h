#pragma once
// Guesses where there is no choice: a rule that the answer must follow, a grammar, say, leaves a single token.
#include "draft/source.h"

namespace outrider {

class ForcedSource final : public Source {
 public:
  std::string_view name() const override { return "forced"; }
  Result<std::unique_ptr<Reader>> open(const SourceRequest& request) override;
};

}  // namespace outrider
