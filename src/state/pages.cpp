#include "state/pages.h"

#include <cstring>

#include "base/check.h"

namespace outrider {

Result<PagePool> PagePool::make(const KvGeometry& geometry, int pages) {
  PagePool pool;
  pool.geometry_ = geometry;
  auto memory = Memory::reserve(size_t(pages) * geometry.page_bytes(), "the KV cache");
  if (!memory) return memory.error();
  pool.memory_ = std::move(*memory);
  pool.references_.assign(size_t(pages), 0);
  for (int p = pages - 1; p >= 0; --p) pool.free_.push_back(p);
  return pool;
}

int PagePool::allocate() {
  if (free_.empty()) return -1;
  const int page = free_.back();
  free_.pop_back();
  references_[size_t(page)] = 1;
  return page;
}

void PagePool::retain(int page) {
  OUTRIDER_CHECK(references_[size_t(page)] > 0);
  ++references_[size_t(page)];
}

void PagePool::release(int page) {
  OUTRIDER_CHECK(references_[size_t(page)] > 0);
  if (--references_[size_t(page)] == 0) free_.push_back(page);
}

void PagePool::copy_page(int from, int to) { std::memcpy(block(to, 0, 0), block(from, 0, 0), geometry_.page_bytes()); }

}  // namespace outrider
