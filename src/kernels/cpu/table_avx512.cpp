#include "kernels/cpu/lanes_avx512.h"
#include "kernels/cpu/table.h"

namespace outrider::kernels {

constinit const Kernels kAvx512Kernels = cpu::table<avx512::Lanes>("avx512");

}  // namespace outrider::kernels
