#include <cstring>

#include "base/check.h"
#include "kernels/kernels.h"

namespace outrider::kernels {

bool isa_supported(Isa isa) {
  switch (isa) {
    case Isa::scalar: return true;
    case Isa::avx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
    case Isa::avxvnni: return isa_supported(Isa::avx2) && __builtin_cpu_supports("avxvnni");
    case Isa::avx512:
      return isa_supported(Isa::avx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
  }
  return false;
}

Isa best_isa() {
  Isa best = Isa::scalar;
  for (const Isa isa : kAllIsas)
    if (isa_supported(isa)) best = isa;
  return best;
}

namespace {

const Kernels& table_of(Isa isa) {
  switch (isa) {
    case Isa::avx2: return kAvx2Kernels;
    case Isa::avxvnni: return kAvxVnniKernels;
    case Isa::avx512: return kAvx512Kernels;
    case Isa::scalar: break;
  }
  return kScalarKernels;
}

}  // namespace

const Kernels& kernels_for(Isa isa) {
  OUTRIDER_CHECK(isa_supported(isa));
  return table_of(isa);
}

bool parse_isa(const char* name, Isa& isa) {
  for (const Isa one : kAllIsas)
    if (std::strcmp(name, table_of(one).name) == 0) return isa = one, true;
  return false;
}

}  // namespace outrider::kernels
