#include "kernels/kv_view.h"
#include "kernels/scalar/scalar.h"

namespace outrider::kernels {

const Kernels kScalarKernels = {
    .name = "scalar",
    .multiply = scalar::multiply,
    .quantise = scalar::quantise,
    .rms_scale = scalar::rms_scale,
    .scale_multiply = scalar::scale_multiply,
    .silu_multiply = scalar::silu_multiply,
    .rotate = scalar::rotate,
    .store_kv = scalar::store_kv,
    .attend = scalar::attend,
    .attend_span = scalar::attend_span,
    .add_span = scalar::add_span,
    .finish_attend = scalar::finish_attend,
    .row_max = scalar::row_max,
    .block_max = scalar::block_max,
    .sum_exp = scalar::sum_exp,
    .exp_below = scalar::exp_below,
    .argmax = scalar::argmax,
    .gather = scalar::gather,
    .loud = scalar::loud,
    .probe_read = scalar::probe_read,
    .probe_dots = scalar::probe_dots,
};

void copy_kv_slot(const KvShape& shape, const std::byte* k_from, const std::byte* v_from, int from, std::byte* k_to, std::byte* v_to, int to) {
  const KvView src{shape, const_cast<std::byte*>(k_from), const_cast<std::byte*>(v_from)}, dst{shape, k_to, v_to};
  const bool k8 = shape.k_type == KvType::q8_0, v8 = shape.v_type == KvType::q8_0;
  for (int d = 0; d < shape.head_dim; ++d) {
    if (k8) *dst.k_code(to, d) = *src.k_code(from, d);
    else *dst.k_half(to, d) = *src.k_half(from, d);
    if (v8) *dst.v_code(to, d) = *src.v_code(from, d);
    else *dst.v_half(to, d) = *src.v_half(from, d);
  }
  for (int run = 0; k8 && run < shape.head_dim / 32; ++run) *dst.k_scale(to, run) = *src.k_scale(from, run);
  if (v8) *dst.v_scale(to) = *src.v_scale(from);
}

}  // namespace outrider::kernels
