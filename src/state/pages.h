#pragma once
// A pool of pages, each holding the keys and values of 64 positions for every layer and kv head. Sized once; allocates nothing after that.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/memory.h"
#include "base/result.h"
#include "kernels/attention.h"

namespace outrider {

struct KvGeometry {
  int layers = 0, kv_heads = 0;
  kernels::KvShape shape;

  size_t page_bytes() const { return size_t(layers) * size_t(kv_heads) * (shape.k_block_bytes() + shape.v_block_bytes()); }
};

// Pages that hold `tokens` positions.
inline int pages_for(int64_t tokens) { return int((tokens + kernels::kKvBlock - 1) / kernels::kKvBlock); }

class PagePool {
 public:
  // Reserves pages · page_bytes() of memory; error when the machine has not got it.
  static Result<PagePool> make(const KvGeometry& geometry, int pages);

  const KvGeometry& geometry() const { return geometry_; }
  int capacity() const { return int(references_.size()); }
  int free_pages() const { return int(free_.size()); }

  int allocate();  // a page with one reference, or -1 when none is free
  void retain(int page);
  void release(int page);
  int references(int page) const { return references_[size_t(page)]; }

  std::byte* k_block(int page, int layer, int head) const { return block(page, layer, head); }
  std::byte* v_block(int page, int layer, int head) const { return block(page, layer, head) + geometry_.shape.k_block_bytes(); }
  void copy_page(int from, int to);

 private:
  std::byte* block(int page, int layer, int head) const {
    const size_t pair = geometry_.shape.k_block_bytes() + geometry_.shape.v_block_bytes();
    return memory_.data() + ((size_t(page) * size_t(geometry_.layers) + size_t(layer)) * size_t(geometry_.kv_heads) + size_t(head)) * pair;
  }

  KvGeometry geometry_;
  Memory memory_;
  std::vector<int> references_, free_;
};

}  // namespace outrider
