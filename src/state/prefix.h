#pragma once
// Finished timelines kept so that a later prompt with the same beginning need not be read again. Least recently used goes first.
#include <cstdint>
#include <span>
#include <vector>

#include "state/timeline.h"

namespace outrider {

class PrefixCache {
 public:
  // keep = how many timelines at most; 0 turns reuse off.
  explicit PrefixCache(int keep) : keep_(keep) {}

  // A timeline whose tokens are the longest kept prefix of `prompt`, at most `limit` long (at best a fork, at worst empty). Frees kept
  // timelines while the pool has fewer than `pages` free. Check ok() of the result.
  Timeline resume(PagePool& pool, int64_t capacity_tokens, std::span<const int32_t> prompt, int64_t limit, int pages);
  void keep(Timeline timeline);
  // Gives up the oldest kept timeline; false when there is none.
  bool drop_oldest();
  void clear() { kept_.clear(); }

 private:
  int keep_;
  std::vector<Timeline> kept_;  // oldest first
};

}  // namespace outrider
