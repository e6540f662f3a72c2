#pragma once
// Acceptance by equality over a draft tree: the target chooses its own token at every row it reaches, and a drafted token is accepted
// exactly when it equals that choice. So every emitted token is the target's own, and the text is that of plain decoding, whatever
// the draft was. Pure: no model, device or clock.
#include <array>
#include <cstdint>
#include <span>

#include "base/check.h"

namespace outrider {

constexpr int kMaxDraftRows = 32;  // rows of one window

// Rows 0 .. size-1. Row 0 holds the pending token: already emitted, not yet in the timeline. Every other row holds a drafted token
// and names an earlier row as its parent; a chain is the simplest tree. The same token may appear twice under one parent.
struct DraftTree {
  std::array<int32_t, kMaxDraftRows> tokens;
  std::array<int32_t, kMaxDraftRows> parents;  // parents[0] = -1
  int size = 0;

  explicit DraftTree(int32_t pending) : size(1) {
    tokens[0] = pending;
    parents[0] = -1;
  }

  bool full() const { return size == kMaxDraftRows; }

  int add(int32_t token, int parent) {
    OUTRIDER_CHECK(!full() && parent >= 0 && parent < size);
    tokens[size_t(size)] = token;
    parents[size_t(size)] = parent;
    return size++;
  }

  int depth(int row) const {  // 0 for the root; the row's position is the timeline's length + depth
    int depth = 0;
    for (; row > 0; row = parents[size_t(row)]) depth++;
    return depth;
  }

  // The tokens from the root down to `row`, both included: what the sampler calls the ancestors of the choice made at `row`.
  std::span<const int32_t> path_tokens(int row, std::array<int32_t, kMaxDraftRows>& out) const {
    const int length = depth(row) + 1;
    for (int i = length - 1; i >= 0; i--, row = parents[size_t(row)]) out[size_t(i)] = tokens[size_t(row)];
    return {out.data(), size_t(length)};
  }

  // The first child of `parent` that holds `token`, or -1.
  int child(int parent, int32_t token) const {
    for (int row = parent + 1; row < size; row++) {
      if (parents[size_t(row)] == parent && tokens[size_t(row)] == token) return row;
    }
    return -1;
  }
};

struct Acceptance {
  std::array<int32_t, kMaxDraftRows> rows;  // the path to commit: row 0, then the accepted rows downwards
  int length = 0;                           // at least 1; length - 1 drafted tokens were accepted
  int32_t next = 0;                         // the target's choice after them: the new pending token

  std::span<const int32_t> path() const { return {rows.data(), size_t(length)}; }
  int accepted() const { return length - 1; }
};

// choose(row) -> the target's token after that row; called for the rows of the path only, downwards, once each.
template <class Choose>
Acceptance accept(const DraftTree& tree, Choose&& choose) {
  OUTRIDER_CHECK(tree.size >= 1);
  Acceptance result;
  for (int row = 0; row >= 0; row = tree.child(row, result.next)) {
    result.rows[size_t(result.length++)] = row;
    result.next = choose(row);
  }
  return result;
}

}  // namespace outrider
