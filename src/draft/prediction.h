#pragma once
// Guesses from the answer that the caller expects, a file to be printed again with a change, say. It is aligned with what is emitted:
// in step it offers the next token; after a disagreement it offers the ways to go on (one token was put in place of another, some were
// inserted, some left out) until one of them is confirmed.
#include "draft/source.h"

namespace outrider {

class PredictionSource final : public Source {
 public:
  std::string_view name() const override { return "prediction"; }
  Result<std::unique_ptr<Reader>> open(const SourceRequest& request) override;
};

}  // namespace outrider
