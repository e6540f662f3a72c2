#pragma once
// The sources there are, by name. A new one is a file and a line in kinds.cpp.
#include <memory>
#include <span>
#include <vector>

#include "draft/source.h"

namespace outrider {

struct SourceOptions {
  int shortest_match = 1;  // lookup: tokens
};

struct SourceKind {
  std::string_view name;
  std::string_view help;
  std::unique_ptr<Source> (*make)(const SourceOptions& options);
  size_t (*bytes)(int64_t context, int requests);  // what it and its readers keep, at most
  bool learns = false;                             // Source::learns()
};

std::span<const SourceKind> source_kinds();
const SourceKind* find_source(std::string_view name);  // or null
// All of them, or those named; unknown names are left out.
std::vector<std::unique_ptr<Source>> make_sources(std::span<const std::string_view> names, const SourceOptions& options = {});
std::vector<std::unique_ptr<Source>> make_all_sources(const SourceOptions& options = {});

}  // namespace outrider
