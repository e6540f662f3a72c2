#include "kernels/cpu/lanes_avx2.h"
#include "kernels/cpu/table.h"

namespace outrider::kernels {

constinit const Kernels kAvx2Kernels = cpu::table<avx2::Lanes>("avx2");

}  // namespace outrider::kernels
