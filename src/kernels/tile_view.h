#pragma once
// Where blocks of codes and scales begin inside a macro of a tile. What is inside a block of codes: matrix.h.
#include "kernels/matrix.h"

namespace outrider::kernels {

struct MacroView {
  const std::byte* base;
  const MatrixLayout* layout;
  int64_t blocks;

  OUTRIDER_ALWAYS_INLINE int64_t scale_at() const { return blocks * layout->code_block_bytes; }
  OUTRIDER_ALWAYS_INLINE const std::byte* codes(int64_t block) const { return base + block * layout->code_block_bytes; }
  // half32, half32_min, float32: 16 values of a block. `second` = the minima.
  OUTRIDER_ALWAYS_INLINE const std::byte* block_scale(int64_t block, bool second = false) const {
    const int64_t row_bytes = layout->scales == Scales::float32 ? 64 : 32;
    return base + scale_at() + (second ? blocks * row_bytes : 0) + block * row_bytes;
  }
  // super32_min, super16, super16_min: 16 bytes of sub-block `sub`; minima follow all scales, then d, then dmin.
  OUTRIDER_ALWAYS_INLINE const std::byte* sub_scale(int64_t sub, bool second = false) const {
    const int64_t subs = layout->scales == Scales::super32_min ? blocks : 2 * blocks;
    return base + scale_at() + (second ? subs * 16 : 0) + sub * 16;
  }
  OUTRIDER_ALWAYS_INLINE const std::byte* super_scale(bool second = false) const {
    return base + scale_at() + blocks * layout->scale_block_bytes + (second ? 32 : 0);
  }
};

// Calls fn(MacroView, first block) for each macro of a tile, k ascending.
template <class Fn>
inline void for_each_macro(const MatrixLayout& layout, const std::byte* tile, Fn&& fn) {
  for (int64_t block = 0; block < layout.blocks(); block += kMacroBlocks) {
    const int64_t count = layout.blocks() - block < kMacroBlocks ? layout.blocks() - block : kMacroBlocks;
    fn(MacroView{tile, &layout, count}, block);
    tile += layout.macro_bytes(count);
  }
}

}  // namespace outrider::kernels
