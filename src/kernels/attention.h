#pragma once
// Keys and values in blocks of 64 positions of one (layer, kv head), and attention of one query row over them.
//
// A K block is laid out for 16 positions at a time, lanes = positions; a V block row by row, lanes = dimensions:
//   f16   K half[4][dim][16]                                   V half[64][dim]
//   q8_0  K int8[4][dim][16], then half scale[4][dim/32][16]   V int8[64][dim], then half scale[64][dim/32]
// q8_0: per (position, 32 dimensions) scale = max|x|/127, stored as half; codes = round-to-even(x · 127/max|x|).
// No scale spans two positions.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/inline.h"

namespace outrider::kernels {

inline constexpr int kKvBlock = 64;  // positions
inline constexpr int kMaxHeadDim = 512;

enum class KvType : uint8_t { f16, q8_0 };

struct KvShape {
  KvType k_type = KvType::f16, v_type = KvType::f16;
  int head_dim = 0;  // a multiple of 16 (f16) or 32 (q8_0)

  static OUTRIDER_ALWAYS_INLINE size_t block_bytes(KvType type, int dim) {
    const size_t values = size_t(kKvBlock) * dim;
    return type == KvType::f16 ? values * 2 : values + values / 32 * 2;
  }
  OUTRIDER_ALWAYS_INLINE size_t k_block_bytes() const { return block_bytes(k_type, head_dim); }
  OUTRIDER_ALWAYS_INLINE size_t v_block_bytes() const { return block_bytes(v_type, head_dim); }
};

// One query row over one kv head: `heads` query heads share it (GQA). The row sees positions 0…position:
// the committed ones below `committed` in blocks, the rest in the window, where path[d] is the slot of position committed + d
// (path[last] is the row itself). The window is one more K block and V block whose slots are window rows.
//
// For each head, blocks of 64 positions ascending:
//   s_p = scale · (e + o), e and o the fma sums of q_d·k_pd over even and odd d  (q8_0: per 32 dimensions, then e = fma(scale, block e, e))
//   m' = max(m, max s);  c = exp32(m − m');  w_p = exp32(s_p − m')
//   l = l·c then + w_p, lanes p mod 16, p ascending;  acc_d = acc_d·c, then fma(w_p, v_pd, acc_d), p ascending
// out_d = acc_d / (l folded in lane order). A block in the pages and the same rows in the window give the same bits.
struct AttendJob {
  const KvShape* shape = nullptr;
  const float* query = nullptr;  // [heads][head_dim]
  float* out = nullptr;          // [heads][head_dim]
  int heads = 1;
  float scale = 1;
  int64_t position = 0;   // of the row
  int64_t committed = 0;  // positions below it are in blocks
  const int* pages = nullptr;         // page of each block of 64 positions
  const std::byte* k_base = nullptr;  // K block of page 0, V block of page 0; the others page_stride bytes apart
  const std::byte* v_base = nullptr;
  size_t page_stride = 0;
  const std::byte* window_k = nullptr;
  const std::byte* window_v = nullptr;
  const uint8_t* path = nullptr;  // position − committed + 1 slots; may be null when the row is committed itself

  OUTRIDER_ALWAYS_INLINE const std::byte* k_block(int64_t block) const { return k_base + size_t(pages[block]) * page_stride; }
  OUTRIDER_ALWAYS_INLINE const std::byte* v_block(int64_t block) const { return v_base + size_t(pages[block]) * page_stride; }
};

// Copies one slot's key and value between blocks, bit for bit.
void copy_kv_slot(const KvShape& shape, const std::byte* k_from, const std::byte* v_from, int from_slot, std::byte* k_to, std::byte* v_to, int to_slot);

}  // namespace outrider::kernels
