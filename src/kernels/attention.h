#pragma once
// Keys and values in blocks of 64 positions of one (layer, kv head), and attention of query rows over them.
//
// A K block is laid out for 16 positions at a time, lanes = positions; a V block with lanes = dimensions:
//   f16   K half[4][dim][16]                                              V half[64][dim]
//   q8_0  K u8[4][dim/4][16][4] = code + 128, half scale[4][dim/32][16]   V int8[16][dim][4], half scale[64]
// q8_0 K: a scale per (position, 32 dimensions); V: a scale per position, so that it can be multiplied into the position's weight.
// q8_0 keys, and the queries that meet them, are turned by a Hadamard matrix first: it keeps their products and spreads the outliers
// that some models have in single dimensions, which would cost all others their precision. Of a head's dim values, stretches of
// B = the largest power of two that divides dim are turned: for h = B/2, B/4 … 1: (x_i, x_i+h) ← (x_i + x_i+h, x_i − x_i+h); then · 1/√B.
// scale = max|x|/127, stored as half; codes = round-to-even(x · 127/max|x|). No scale spans two positions.
#include <cstddef>
#include <cstdint>

#include "base/inline.h"

namespace outrider::kernels {

inline constexpr int kKvBlock = 64;       // positions
inline constexpr int kSpanBlocks = 8;     // blocks whose sums are taken on their own and then merged: what threads share out
inline constexpr int kSpan = kSpanBlocks * kKvBlock;
inline constexpr int kWindowSlots = 32;   // slots of the window that may be used, the first ones of its blocks
inline constexpr int kMaxHeadDim = 512;
inline constexpr int kMaxQueries = 64;    // rows × heads of one job
inline constexpr int kQueryCode = 127 * 128;  // largest code of a query: 128·high + low, |high| ≤ 127, −64 ≤ low < 64

enum class KvType : uint8_t { f16, q8_0 };

struct KvShape {
  KvType k_type = KvType::f16, v_type = KvType::f16;
  int head_dim = 0;  // a multiple of 16 (f16) or 32 (q8_0)

  static OUTRIDER_ALWAYS_INLINE size_t values(int dim) { return size_t(kKvBlock) * size_t(dim); }
  OUTRIDER_ALWAYS_INLINE size_t k_block_bytes() const { return k_type == KvType::f16 ? values(head_dim) * 2 : values(head_dim) + values(head_dim) / 32 * 2; }
  OUTRIDER_ALWAYS_INLINE size_t v_block_bytes() const { return v_type == KvType::f16 ? values(head_dim) * 2 : values(head_dim) + kKvBlock * 2; }
};

// A query row sees positions first_seen(position, horizon)…position: those below `committed` in pages, the rest in the window, where path[d]
// is the slot of position committed + d (the last is the row itself). The window is one more K block and V block whose slots are window rows.
// (What models call a sliding window is a horizon here.)
struct AttendRow {
  const float* query = nullptr;  // [heads][head_dim]: the query heads that share the kv head
  float* out = nullptr;          // the same shape
  int64_t position = 0;
  int64_t committed = 0;
  const uint8_t* path = nullptr;  // position − committed + 1 slots < kWindowSlots; may be null when the row itself is committed
};

constexpr OUTRIDER_ALWAYS_INLINE int64_t first_seen(int64_t position, int64_t horizon) { return horizon > 0 && position >= horizon ? position + 1 - horizon : 0; }

// Spans [first, end) that hold a position which a row at `position` sees.
struct SpanRange {
  int64_t first, end;
};
constexpr OUTRIDER_ALWAYS_INLINE SpanRange spans_of(int64_t position, int64_t horizon) { return {first_seen(position, horizon) / kSpan, position / kSpan + 1}; }

// Rows of one timeline over one kv head. What comes out for a row does not depend on the others. For each row and head:
//
//   for each span of 512 positions, from m = −∞, l = 0, acc = 0, and in it each block of 64 that holds positions p it sees, ascending:
//     s_p  = scale · q·k_p          f16: e + o, fma sums over even and odd d
//                                   q8_0: f = fma(float(exact dot of a run of 32), k scale · q scale, f), runs ascending; q codes have 15 bits:
//                                   round-to-even(x · kQueryCode/max|x|), since a key's outlier multiplies what its query lost
//     m'   = max(m, max s);  c = exp32(m − m');  w_p = exp32(s_p − m')
//     l    = l·c, then + w_p, lanes p mod 16, p ascending
//     acc  f16: acc·c, then fma(w_p, v_pd), p ascending
//          q8_0: u_p = w_p · v scale; top = max u; code_p = round-to-even(u_p · (255/top)) in 0…255; fma(float(exact Σ code_p·v code), top · (1/255), acc·c)
//   the spans' (m, l, acc), ascending, into the first's:  M' = max(M, m), a = exp32(M − M'), b = exp32(m − M');  L = fma(l, b, L·a);  ACC = fma(acc, b, ACC·a)
//   out_d = ACC_d / (L folded in lane order)
struct AttendJob {
  const KvShape* shape = nullptr;
  int heads = 1;
  float scale = 1;      // > 0
  int64_t horizon = 0;  // positions a row sees at most, itself included; 0: all
  const AttendRow* rows = nullptr;
  int row_count = 0;                  // row_count · heads ≤ kMaxQueries
  const int* pages = nullptr;         // page of each block of 64 positions
  const std::byte* k_base = nullptr;  // K block of page 0, V block of page 0; the others page_stride bytes apart. Only a V block right behind its K block is fetched ahead
  const std::byte* v_base = nullptr;
  size_t page_stride = 0;
  const std::byte* window_k = nullptr;
  const std::byte* window_v = nullptr;

  OUTRIDER_ALWAYS_INLINE int64_t first_seen(const AttendRow& row) const { return kernels::first_seen(row.position, horizon); }
  OUTRIDER_ALWAYS_INLINE int queries() const { return row_count * heads; }
  OUTRIDER_ALWAYS_INLINE const std::byte* k_block(int64_t block) const { return k_base + size_t(pages[block]) * page_stride; }
  OUTRIDER_ALWAYS_INLINE const std::byte* v_block(int64_t block) const { return v_base + size_t(pages[block]) * page_stride; }
};

// What one span comes to for one query: acc[head_dim], then l[16], then m (padded to 16).
constexpr OUTRIDER_ALWAYS_INLINE int64_t span_state_floats(int head_dim) { return head_dim + 32; }

// Copies one slot's key and value between blocks, bit for bit.
void copy_kv_slot(const KvShape& shape, const std::byte* k_from, const std::byte* v_from, int from_slot, std::byte* k_to, std::byte* v_to, int to_slot);

}  // namespace outrider::kernels
