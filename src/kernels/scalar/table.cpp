#include "kernels/scalar/scalar.h"

namespace outrider::kernels {

const Kernels kScalarKernels = {
    .name = "scalar",
    .multiply = scalar::multiply,
    .quantise = scalar::quantise,
    .rms_scale = scalar::rms_scale,
    .scale_multiply = scalar::scale_multiply,
    .silu_multiply = scalar::silu_multiply,
    .gelu_multiply = scalar::gelu_multiply,
    .rotate = scalar::rotate,
    .store_kv = scalar::store_kv,
    .attend = scalar::attend,
    .attend_spans = scalar::attend_spans,
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

}  // namespace outrider::kernels
