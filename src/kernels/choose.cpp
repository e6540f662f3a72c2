#include <cstring>

#include "base/check.h"
#include "kernels/kernels.h"

namespace outrider::kernels {

bool isa_supported(Isa isa) {
  switch (isa) {
    case Isa::scalar: return true;
    case Isa::avx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
    case Isa::avx512:
      return isa_supported(Isa::avx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
  }
  return false;
}

Isa best_isa() { return isa_supported(Isa::avx512) ? Isa::avx512 : isa_supported(Isa::avx2) ? Isa::avx2 : Isa::scalar; }

const Kernels& kernels_for(Isa isa) {
  OUTRIDER_CHECK(isa_supported(isa));
  return isa == Isa::avx512 ? kAvx512Kernels : isa == Isa::avx2 ? kAvx2Kernels : kScalarKernels;
}

bool parse_isa(const char* name, Isa& isa) {
  if (std::strcmp(name, "scalar") == 0) isa = Isa::scalar;
  else if (std::strcmp(name, "avx2") == 0) isa = Isa::avx2;
  else if (std::strcmp(name, "avx512") == 0) isa = Isa::avx512;
  else return false;
  return true;
}

}  // namespace outrider::kernels
