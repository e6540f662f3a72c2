#include "state/timeline.h"

#include <utility>

#include "base/check.h"

namespace outrider {

using kernels::kKvBlock;

static_assert(Timeline::kWindowRows <= kernels::kWindowSlots, "a row in flight is a slot of the window");

Timeline::Timeline(PagePool& pool, int64_t capacity_tokens) : pool_(&pool), capacity_(capacity_tokens), window_page_(pool.allocate()) {
  tokens_.reserve(size_t(capacity_tokens));
  pages_.reserve(size_t(capacity_tokens / kKvBlock + 1));
}

Timeline::~Timeline() { release_all(); }

void Timeline::release_all() {
  for (const int page : pages_) pool_->release(page);
  pages_.clear();
  if (window_page_ >= 0) pool_->release(std::exchange(window_page_, -1));
}

Timeline::Timeline(Timeline&& other) noexcept
    : pool_(other.pool_),
      capacity_(other.capacity_),
      pages_(std::exchange(other.pages_, {})),
      tokens_(std::exchange(other.tokens_, {})),
      window_(other.window_),
      rows_(std::exchange(other.rows_, 0)),
      window_page_(std::exchange(other.window_page_, -1)) {}

Timeline& Timeline::operator=(Timeline&& other) noexcept {
  if (this == &other) return *this;
  release_all();
  pool_ = other.pool_, capacity_ = other.capacity_;
  pages_ = std::exchange(other.pages_, {}), tokens_ = std::exchange(other.tokens_, {});
  window_ = other.window_, rows_ = std::exchange(other.rows_, 0);
  window_page_ = std::exchange(other.window_page_, -1);
  return *this;
}

bool Timeline::room(int64_t n) {
  if (length() + n > capacity_) return false;
  const int64_t needed = (length() + n + kKvBlock - 1) / kKvBlock;
  if (n > 0 && length() % kKvBlock != 0 && pool_->references(pages_.back()) > 1) {  // shared with a fork: write to a copy
    const int copy = pool_->allocate();
    if (copy < 0) return false;
    pool_->copy_page(pages_.back(), copy);
    pool_->release(pages_.back());
    pages_.back() = copy;
  }
  while (int64_t(pages_.size()) < needed) {
    const int page = pool_->allocate();
    if (page < 0) return false;
    pages_.push_back(page);
  }
  return true;
}

void Timeline::committed(std::span<const int32_t> tokens) {
  OUTRIDER_CHECK((length() + int64_t(tokens.size()) + kKvBlock - 1) / kKvBlock <= int64_t(pages_.size()));
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
}

int Timeline::add_row(int32_t token, int parent) {
  OUTRIDER_CHECK(rows_ < kWindowRows && parent >= kRoot && parent < rows_);
  Row& row = window_[size_t(rows_)];
  row.token = token, row.parent = parent, row.depth = 0;
  if (parent != kRoot) {
    row.depth = window_[size_t(parent)].depth + 1;
    row.path = window_[size_t(parent)].path;
  }
  row.path[size_t(row.depth)] = uint8_t(rows_);
  return rows_++;
}

bool Timeline::commit(std::span<const int32_t> path) {
  if (!room(int64_t(path.size()))) return false;
  const KvGeometry& g = pool_->geometry();
  int parent = kRoot;
  for (const int32_t index : path) {
    const Row& source = row(index);
    OUTRIDER_CHECK(index < rows_ && source.parent == parent);
    parent = index;
    const int target = page(length()), slot = int(length() % kKvBlock);
    for (int layer = 0; layer < g.layers; ++layer)
      for (int head = 0; head < g.kv_heads; ++head)
        kernels::copy_kv_slot(g.shape, pool_->k_block(window_page_, layer, head), pool_->v_block(window_page_, layer, head), index,
                              pool_->k_block(target, layer, head), pool_->v_block(target, layer, head), slot);
    tokens_.push_back(source.token);
  }
  clear_window();
  return true;
}

Timeline Timeline::fork(int64_t at) const {
  OUTRIDER_CHECK(at >= 0 && at <= length());
  Timeline other(*pool_, capacity_);
  if (!other.ok()) return other;
  for (int64_t p = 0; p < at; p += kKvBlock) {
    pool_->retain(page(p));
    other.pages_.push_back(page(p));
  }
  other.tokens_.assign(tokens_.begin(), tokens_.begin() + at);
  return other;
}

}  // namespace outrider
