#pragma once
// One row's macro (up to 256 weights) taken apart: codes, one byte each and four in a word, and the raw scale fields of its format.
#include <cstddef>
#include <cstdint>

#include "kernels/matrix.h"

namespace outrider::kernels {

struct RowMacro {
  alignas(64) uint32_t quads[8][8];  // of each block; biased as the layout says: value = scale · (code − offset) …
  uint16_t d[8], m[8];               // half32, half32_min
  float f[8];                        // float32
  uint8_t sc[16], mn[16];            // super32_min uses 8 of each; super16 stores int8
  uint16_t super_d, super_m;
};

// Takes apart `blocks` 32-blocks of a GGUF row. `row` points at the macro's first byte.
void read_row_macro(QuantType type, const std::byte* row, int blocks, RowMacro& out);

}  // namespace outrider::kernels
