#include "state/prefix.h"

#include <algorithm>

namespace outrider {

namespace {

int64_t common_prefix(std::span<const int32_t> a, std::span<const int32_t> b) {
  const auto [end, unused] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return end - a.begin();
}

}  // namespace

Timeline PrefixCache::resume(PagePool& pool, int64_t capacity_tokens, std::span<const int32_t> prompt, int64_t limit, int pages) {
  size_t best = kept_.size();
  int64_t length = 0;
  for (size_t i = 0; i < kept_.size(); ++i) {
    const int64_t common = std::min(limit, common_prefix(kept_[i].tokens(), prompt));
    if (common > length) best = i, length = common;
  }
  if (best < kept_.size()) {  // the one we resume from becomes the youngest, so that making room frees the others first
    std::rotate(kept_.begin() + int64_t(best), kept_.begin() + int64_t(best) + 1, kept_.end());
    while (kept_.size() > 1 && pool.free_pages() < pages) drop_oldest();
    Timeline fork = kept_.back().fork(length);
    if (pool.free_pages() < pages) kept_.pop_back();  // its shared pages live on in the fork
    if (fork.ok()) return fork;
  }
  while (pool.free_pages() < pages && drop_oldest()) {}
  return Timeline(pool, capacity_tokens);
}

void PrefixCache::keep(Timeline timeline) {
  if (keep_ == 0) return;
  while (int(kept_.size()) >= keep_) drop_oldest();
  kept_.push_back(std::move(timeline));
}

bool PrefixCache::drop_oldest() {
  if (kept_.empty()) return false;
  kept_.erase(kept_.begin());
  return true;
}

}  // namespace outrider
