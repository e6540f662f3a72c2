#include "cli/nearest.h"

#include <algorithm>
#include <vector>

namespace outrider::cli {

namespace {

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t cost = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j], row[j] = cost;
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates, size_t most) {
  std::string best;
  size_t closest = most + 1;
  for (const std::string& candidate : candidates)
    if (const size_t d = distance(word, candidate); d < closest) closest = d, best = candidate;
  return best;
}

}  // namespace outrider::cli
