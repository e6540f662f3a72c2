#pragma once
// run --show-source: who guessed what, seen on the text itself. One colour a source; the model's own tokens stay plain.
#include <string>
#include <string_view>
#include <vector>

#include "cli/answer.h"

namespace outrider::cli {

class SourceColours {
 public:
  // `sources` as in Drafter::sources(). Off where nobody wants it, nobody would see it, or NO_COLOR forbids it.
  SourceColours(std::vector<std::string> sources, bool wanted);

  // To stdout. False when nobody reads any more.
  bool show(std::string_view text, int source) const;
  void tell_legend() const;  // one line on stderr; nothing when it is off

 private:
  std::vector<std::string> sources_;
  bool on_;
};

}  // namespace outrider::cli
