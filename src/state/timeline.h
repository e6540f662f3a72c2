#pragma once
// One sequence: committed tokens whose keys and values lie in pages, and a window of at most 32 rows in flight.
// A timeline only ever appends. Two ways in, with the same bits out:
//   extend: room(n) → the model writes n rows straight into the pages → committed(tokens)
//   window: add_row(token, parent) … → the model fills those rows, repeatedly as the window grows → commit(path)
// Rows name their parent (kRoot = the committed end), so a chain is the simplest tree; to a row the past is the committed
// tokens, then its ancestors by depth.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "state/pages.h"

namespace outrider {

class Timeline {
 public:
  static constexpr int kWindowRows = 32;
  static constexpr int kRoot = -1;

  // `capacity_tokens` bounds length() + window depth. Takes one page of the pool for the window; check ok() after.
  Timeline(PagePool& pool, int64_t capacity_tokens);
  ~Timeline();
  Timeline(Timeline&& other) noexcept;
  Timeline& operator=(Timeline&& other) noexcept;
  Timeline(const Timeline&) = delete;

  bool ok() const { return window_page_ >= 0; }
  int64_t length() const { return int64_t(tokens_.size()); }
  int64_t capacity() const { return capacity_; }
  std::span<const int32_t> tokens() const { return tokens_; }
  PagePool& pool() const { return *pool_; }

  // Makes pages for positions [length, length + n) and this timeline their only owner. False when the pool is exhausted or
  // the capacity would be passed.
  bool room(int64_t n);
  // The rows written for these tokens count from now on.
  void committed(std::span<const int32_t> tokens);

  struct Row {
    int32_t token;
    int parent;  // row or kRoot
    int depth;   // 0 = first after the committed end; position = length() + depth
    std::array<uint8_t, kWindowRows> path;  // rows by depth, itself last: depth + 1 entries
  };
  int rows() const { return rows_; }
  const Row& row(int index) const { return window_[size_t(index)]; }
  int64_t position(int index) const { return length() + row(index).depth; }
  int add_row(int32_t token, int parent);  // index of the new row

  // Moves the rows of `path` (each the child of the one before, the first a child of the root) into the pages and empties the
  // window. False when there is no room; then nothing has changed.
  bool commit(std::span<const int32_t> path);
  void clear_window() { rows_ = 0; }

  // A timeline that shares this one's first `at` ≤ length() tokens. Its last page is shared too and copied when one of the two
  // writes to it. Edits, retries and stops that cut inside a draft are forks. Check ok().
  Timeline fork(int64_t at) const;

  int page(int64_t position) const { return pages_[size_t(position / kernels::kKvBlock)]; }
  int window_page() const { return window_page_; }
  std::span<const int> pages() const { return pages_; }

 private:
  void release_all();

  PagePool* pool_;
  int64_t capacity_;
  std::vector<int> pages_;
  std::vector<int32_t> tokens_;
  std::array<Row, kWindowRows> window_;
  int rows_ = 0;
  int window_page_ = -1;
};

}  // namespace outrider
