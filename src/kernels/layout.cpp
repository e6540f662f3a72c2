#include "base/check.h"
#include "kernels/matrix.h"
#include "quant/blocks.h"

namespace outrider::kernels {

namespace {

struct Recipe {
  QuantType type;
  Codes codes;
  Scales scales;
};

constexpr Recipe kRecipes[] = {
    {QuantType::f32, Codes::f32, Scales::none},
    {QuantType::f16, Codes::f16, Scales::none},
    {QuantType::bf16, Codes::bf16, Scales::none},
    {QuantType::q4_0, Codes::n4, Scales::half32},
    {QuantType::q4_1, Codes::n4, Scales::half32_min},
    {QuantType::q5_0, Codes::n5, Scales::half32},
    {QuantType::q5_1, Codes::n5, Scales::half32_min},
    {QuantType::q8_0, Codes::b8, Scales::half32},
    {QuantType::q2_k, Codes::n4, Scales::super16_min},
    {QuantType::q3_k, Codes::n4, Scales::super16},
    {QuantType::q4_k, Codes::n4, Scales::super32_min},
    {QuantType::q5_k, Codes::n5, Scales::super32_min},
    {QuantType::q6_k, Codes::n6, Scales::super16},
    {QuantType::iq4_nl, Codes::n4_table, Scales::half32},
    {QuantType::iq4_xs, Codes::n4_table, Scales::float32},
    {QuantType::mxfp4, Codes::n4_table, Scales::float32},
};

int64_t code_block_bytes(Codes codes) {
  switch (codes) {
    case Codes::n4:
    case Codes::n4_table: return 256;
    case Codes::n5: return 320;
    case Codes::n6: return 384;
    case Codes::b8: return 512;
    default: return 0;
  }
}

void set_scale_bytes(MatrixLayout& layout) {
  switch (layout.scales) {
    case Scales::none: break;
    case Scales::half32: layout.scale_block_bytes = 32; break;
    case Scales::half32_min:
    case Scales::float32: layout.scale_block_bytes = 64; break;
    case Scales::super32_min: layout.scale_block_bytes = 32, layout.scale_macro_bytes = 64; break;
    case Scales::super16: layout.scale_block_bytes = 32, layout.scale_macro_bytes = 32; break;
    case Scales::super16_min: layout.scale_block_bytes = 64, layout.scale_macro_bytes = 64; break;
  }
}

}  // namespace

int64_t MatrixLayout::tile_bytes() const {
  if (is_float()) return k_padded * kTileRows * (codes == Codes::f32 ? 4 : 2);
  const int64_t full = blocks() / kMacroBlocks, rest = blocks() % kMacroBlocks;
  return full * macro_bytes(kMacroBlocks) + (rest ? macro_bytes(rest) : 0);
}

MatrixLayout matrix_layout(QuantType type, int64_t rows, int64_t columns) {
  for (const Recipe& recipe : kRecipes) {
    if (recipe.type != type) continue;
    MatrixLayout layout;
    layout.type = type;
    layout.codes = recipe.codes;
    layout.scales = recipe.scales;
    layout.offset = code_offset(recipe.codes, recipe.scales);
    layout.rows = rows;
    layout.columns = columns;
    layout.k_padded = (columns + kBlockElements - 1) / kBlockElements * kBlockElements;
    layout.code_block_bytes = code_block_bytes(recipe.codes);
    set_scale_bytes(layout);
    return layout;
  }
  check_failed("matrix_layout: a type without a compute layout", __FILE__, __LINE__);
}

void no_kernel_for(const MatrixLayout&) { check_failed("multiply: codes and scales without a kernel", __FILE__, __LINE__); }

void set_table(Matrix& matrix) {
  const int8_t* table = matrix.layout.type == QuantType::mxfp4 ? kMxfp4DoubledLevels : kIq4Levels;  // of other types nothing is looked up
  for (int i = 0; i < 16; ++i) matrix.table[i] = table[i];
}

}  // namespace outrider::kernels
