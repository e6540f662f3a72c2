#pragma once
// Where a slot's values lie in a K and a V block. What goes through whole blocks (cpu/attend_block.h) follows attention.h's layout itself.
#include "kernels/attention.h"

namespace outrider::kernels {

struct KvView {
  const KvShape& shape;
  std::byte* k;
  std::byte* v;

  OUTRIDER_ALWAYS_INLINE uint16_t* k_half(int slot, int d) const {
    return reinterpret_cast<uint16_t*>(k) + (int64_t(slot / 16) * shape.head_dim + d) * 16 + slot % 16;
  }
  OUTRIDER_ALWAYS_INLINE uint8_t* k_code(int slot, int d) const {  // code + 128
    return reinterpret_cast<uint8_t*>(k) + (int64_t(slot / 16) * shape.head_dim + d / 4 * 4) * 16 + slot % 16 * 4 + d % 4;
  }
  OUTRIDER_ALWAYS_INLINE uint16_t* k_scale(int slot, int run) const {
    return reinterpret_cast<uint16_t*>(k + kKvBlock * int64_t(shape.head_dim)) + (slot / 16 * (shape.head_dim / 32) + run) * 16 + slot % 16;
  }
  OUTRIDER_ALWAYS_INLINE uint16_t* v_half(int slot, int d) const { return reinterpret_cast<uint16_t*>(v) + int64_t(slot) * shape.head_dim + d; }
  OUTRIDER_ALWAYS_INLINE int8_t* v_code(int slot, int d) const {
    return reinterpret_cast<int8_t*>(v) + (int64_t(slot / 4) * shape.head_dim + d) * 4 + slot % 4;
  }
  OUTRIDER_ALWAYS_INLINE uint16_t* v_scale(int slot) const { return reinterpret_cast<uint16_t*>(v + kKvBlock * int64_t(shape.head_dim)) + slot; }
};

}  // namespace outrider::kernels
