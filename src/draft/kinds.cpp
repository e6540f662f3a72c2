#include "draft/kinds.h"

#include <algorithm>

#include "draft/lookup.h"
#include "draft/prediction.h"
#include "draft/recycle.h"

namespace outrider {

namespace {
constexpr SourceKind kKinds[] = {
    {"prediction", "what the caller expects the answer to be", [](const SourceOptions&) -> std::unique_ptr<Source> { return std::make_unique<PredictionSource>(); }},
    {"lookup", "what stood after the same words before", [](const SourceOptions& o) -> std::unique_ptr<Source> { return std::make_unique<LookupSource>(LookupSource::Options{.shortest_match = o.shortest_match}); }},
    {"recycle", "what the model lately thought possible after the same token", [](const SourceOptions&) -> std::unique_ptr<Source> { return std::make_unique<RecycleSource>(); }},
};
}  // namespace

std::span<const SourceKind> source_kinds() { return kKinds; }

const SourceKind* find_source(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name, &SourceKind::name);
  return found == std::end(kKinds) ? nullptr : found;
}

std::vector<std::unique_ptr<Source>> make_sources(std::span<const std::string_view> names, const SourceOptions& options) {
  std::vector<std::unique_ptr<Source>> made;
  for (const SourceKind& kind : kKinds)
    if (std::ranges::find(names, kind.name) != names.end()) made.push_back(kind.make(options));
  return made;
}

std::vector<std::unique_ptr<Source>> make_all_sources(const SourceOptions& options) {
  std::vector<std::unique_ptr<Source>> made;
  for (const SourceKind& kind : kKinds) made.push_back(kind.make(options));
  return made;
}

}  // namespace outrider
