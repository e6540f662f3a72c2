#pragma once
// The kernel table of a lane type.
#include "kernels/cpu/attend.h"
#include "kernels/cpu/multiply.h"
#include "kernels/cpu/probe.h"
#include "kernels/cpu/rows.h"

namespace outrider::kernels::cpu {

template <class L>
constexpr Kernels table(const char* name) {
  return {.name = name,
          .multiply = multiply<L>,
          .quantise = quantise<L>,
          .rms_scale = rms_scale<L>,
          .scale_multiply = scale_multiply<L>,
          .silu_multiply = silu_multiply<L>,
          .gelu_multiply = gelu_multiply<L>,
          .rotate = rotate<L>,
          .store_kv = store_kv<L>,
          .attend = attend<L>,
          .attend_spans = attend_spans<L>,
          .add_span = add_span<L>,
          .finish_attend = finish_attend<L>,
          .row_max = row_max<L>,
          .block_max = block_max<L>,
          .sum_exp = sum_exp<L>,
          .exp_below = exp_below<L>,
          .argmax = argmax<L>,
          .gather = gather<L>,
          .loud = loud<L>,
          .probe_read = probe_read<L>,
          .probe_dots = probe_dots<L>};
}

}  // namespace outrider::kernels::cpu
