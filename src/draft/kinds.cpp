#include "draft/kinds.h"

#include <algorithm>

#include "draft/lookup.h"
#include "draft/prediction.h"
#include "draft/recycle.h"

namespace outrider {

namespace {
template <class Kind>
std::unique_ptr<Source> make(const SourceOptions&) { return std::make_unique<Kind>(); }
std::unique_ptr<Source> make_lookup(const SourceOptions& o) { return std::make_unique<LookupSource>(LookupSource::Options{.shortest_match = o.shortest_match}); }
size_t per_request(int64_t context, int requests) { return size_t(requests) * SuffixIndex::bytes(context); }

constexpr SourceKind kKinds[] = {
    {"prediction", "what the caller expects the answer to be", make<PredictionSource>, [](int64_t c, int n) { return per_request(c, n) + size_t(n) * size_t(c) * sizeof(int32_t); }},
    {"lookup", "what stood after the same words before", make_lookup, per_request},
    {"recycle", "what the model lately thought possible after the same token", make<RecycleSource>, [](int64_t, int) { return RecycleSource::bytes({}); }, true},
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
