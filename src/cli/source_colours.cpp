#include "cli/source_colours.h"

#include <iterator>

#include "cli/terminal.h"
#include "draft/survival.h"

namespace outrider::cli {

namespace {

constexpr struct {
  const char *name, *code;
} kColours[] = {{"blue", "\033[34m"}, {"green", "\033[32m"}, {"yellow", "\033[33m"}, {"magenta", "\033[35m"}, {"cyan", "\033[36m"}, {"red", "\033[31m"}};
constexpr const char* kPlain = "\033[0m";
static_assert(int(std::size(kColours)) >= kMostSources);

}  // namespace

SourceColours::SourceColours(std::vector<std::string> sources, bool wanted) : sources_(std::move(sources)), on_(wanted && stdout_is_terminal() && colours_allowed()) {}

bool SourceColours::show(std::string_view text, int source) const {
  if (!on_ || source < 0) return write_out(text);
  return write_out(kColours[source].code + std::string(text) + kPlain);
}

void SourceColours::tell_legend() const {
  if (!on_) return;
  std::string line = "tokens by source: ";
  for (size_t k = 0; k < sources_.size(); ++k) {
    const std::string entry = sources_[k] + " " + kColours[k].name;
    line += (stderr_is_terminal() ? kColours[k].code + entry + kPlain : entry) + ", ";
  }
  say(line + "the model itself plain");
}

}  // namespace outrider::cli
