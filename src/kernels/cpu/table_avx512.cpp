#include "kernels/cpu/lanes_avx512.h"
// The lane type must be known before the templates that use it.
#include "kernels/cpu/attend.h"
#include "kernels/cpu/multiply.h"
#include "kernels/cpu/rows.h"

namespace outrider::kernels {

using Lanes = avx512::Lanes;

const Kernels kAvx512Kernels = {
    .name = "avx512",
    .multiply = cpu::multiply<Lanes>,
    .quantise = cpu::quantise<Lanes>,
    .rms_norm = cpu::rms_norm<Lanes>,
    .silu_multiply = cpu::silu_multiply<Lanes>,
    .add = cpu::add<Lanes>,
    .rotate = cpu::rotate<Lanes>,
    .store_kv = cpu::store_kv<Lanes>,
    .attend = cpu::attend<Lanes>,
    .row_max = cpu::row_max<Lanes>,
    .sum_exp = cpu::sum_exp<Lanes>,
    .argmax = cpu::argmax<Lanes>,
};

}  // namespace outrider::kernels
