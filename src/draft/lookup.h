#pragma once
// Guesses what followed when the same tokens stood earlier in the prompt or the answer (prompt lookup decoding, Saxena 2023), with
// all that followed there and not only the latest. Needs no model.
#include <memory>

#include "draft/source.h"
#include "draft/suffix_index.h"

namespace outrider {

class LookupSource final : public Source {
 public:
  struct Options {
    int shortest_match = 1;  // tokens that must agree
    int64_t remembered = 0;  // tokens of earlier answers that later requests may find too; 0: each request for itself
  };
  LookupSource() : LookupSource(Options()) {}
  explicit LookupSource(Options options);

  std::string_view name() const override { return "lookup"; }
  // Readers must not outlive the source.
  Result<std::unique_ptr<Reader>> open(const SourceRequest& request) override;

 private:
  int shortest_match_;
  std::unique_ptr<SuffixIndex> earlier_;  // answers of requests that are over; null: none are remembered
};

}  // namespace outrider
