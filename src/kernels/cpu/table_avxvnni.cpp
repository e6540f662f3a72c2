#include "kernels/cpu/lanes_avxvnni.h"
#include "kernels/cpu/table.h"

namespace outrider::kernels {

constinit const Kernels kAvxVnniKernels = cpu::table<avxvnni::Lanes>("avxvnni");

}  // namespace outrider::kernels
