#pragma once
// A weight matrix in the compute layout: tiles of 16 rows, one row per 32-bit lane.
//
// k is cut into 32-blocks, and 8 of them (fewer at the end) make a macro: first the codes of its blocks, then their scales.
// Vector g of a block (64 bytes = 16 rows × 4 bytes) holds
//   n4  g = 0…3   low nibbles k = 4g+j, high nibbles k = 16+4g+j           (256 bytes a block)
//   n5  the same, then one vector whose bit g of byte (row, j) is bit 4 of code k = 4g+j, g = 0…7       (320)
//   n6  g = 0…2   low six bits k = 4g+j; their two highest bits together are k = 12+j: bits 2g, 2g+1 of it in vector g
//       g = 3…5   the same of k = 16…31                                    (384)
//   b8  g = 0…7   value + 128                                               (512)
// A weight is  scale · (code − offset), + m or − dmin·mn where there are minima; code_offset below. n4 with a table looks its value up.
// Scales of a macro of nb blocks (each row of 16 lanes contiguous):
//   half32      half d[nb][16]                       half32_min   + half m[nb][16]  (weight = d·code + m)
//   float32     float d[nb][16]
//   super32_min u8 sc[nb][16], u8 mn[nb][16], half d[16], half dmin[16]        (K-quants: d·sc·code − dmin·mn)
//   super16     i8 sc[2nb][16], half d[16]                                     super16_min u8 sc[2nb][16], u8 mn[2nb][16], half d, dmin (each [16])
// Macros are padded to 64 bytes; rows past the last are zero. Float matrices are [k][16] of their own type.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/inline.h"
#include "quant/type.h"

namespace outrider::kernels {

inline constexpr int kTileRows = 16;
inline constexpr int kBlockElements = 32;
inline constexpr int kMacroBlocks = 8;

enum class Codes : uint8_t { n4, n4_table, n5, n6, b8, f32, f16, bf16 };
enum class Scales : uint8_t { none, half32, half32_min, float32, super32_min, super16, super16_min };

// What is subtracted from every code. One number for a pair of codes and scales, since the vector kernels have it built in: `start` of
// cpu/multiply_block.h. b8 and what a table gives are value + 128.
constexpr OUTRIDER_ALWAYS_INLINE int code_offset(Codes codes, Scales scales) {
  if (codes == Codes::b8 || codes == Codes::n4_table) return 128;
  if (codes == Codes::n6) return 32;
  if (codes == Codes::n5) return scales == Scales::half32 ? 16 : 0;
  if (codes == Codes::n4) return scales == Scales::half32 ? 8 : scales == Scales::super16 ? 4 : 0;
  return 0;
}

struct MatrixLayout {
  QuantType type{};
  Codes codes = Codes::f32;
  Scales scales = Scales::none;
  int offset = 0;  // code_offset
  int64_t rows = 0, columns = 0;  // columns = k, the input width
  int64_t k_padded = 0;           // multiple of 32
  int64_t code_block_bytes = 0, scale_block_bytes = 0, scale_macro_bytes = 0;

  OUTRIDER_ALWAYS_INLINE bool is_float() const { return codes >= Codes::f32; }
  OUTRIDER_ALWAYS_INLINE int64_t blocks() const { return k_padded / 32; }
  OUTRIDER_ALWAYS_INLINE int64_t tiles() const { return (rows + kTileRows - 1) / kTileRows; }
  OUTRIDER_ALWAYS_INLINE int64_t macro_bytes(int64_t blocks) const {
    return (blocks * (code_block_bytes + scale_block_bytes) + scale_macro_bytes + 63) / 64 * 64;
  }
  int64_t tile_bytes() const;
  OUTRIDER_ALWAYS_INLINE int64_t bytes() const { return tiles() * tile_bytes(); }
};

// How far ahead of their use weights are fetched; 0: not at all. Never seen in a result. Matrices of floats are left to the processor.
struct Fetch {
  // Into the second-level cache: to the first a core has few line fill buffers, and more from there on. With several panels it is a tile's size.
  int32_t far_bytes = 6144;
  int32_t near_bytes = 0;    // from there into the first
};

struct Matrix {
  MatrixLayout layout;
  Fetch fetch;
  const std::byte* data = nullptr;  // layout.bytes(), 64-byte aligned
  int8_t table[16] = {};            // n4_table: the value of each code
};

struct MatrixOutput {
  float* values = nullptr;  // [columns][stride]
  int64_t stride = 0;
  const float* bias = nullptr;  // [rows] or null
  bool add = false;             // add to what is there (a residual)
};

// The layout a GGUF tensor of this type gets. rows × columns in output × input order.
MatrixLayout matrix_layout(QuantType type, int64_t rows, int64_t columns);
// Ends the program: no kernel multiplies these codes with these scales.
[[noreturn]] void no_kernel_for(const MatrixLayout& layout);
// Packs up to 16 GGUF rows (contiguous, row_bytes each) into one tile.
void pack_tile(const MatrixLayout& layout, const std::byte* rows, int64_t row_bytes, int row_count, std::byte* tile);
// Fills Matrix::table; only n4_table reads it.
void set_table(Matrix& matrix);
// Row `row` as floats, for embeddings: the same values the GGUF blocks decode to.
void unpack_row(const Matrix& matrix, int64_t row, float* out);

}  // namespace outrider::kernels
