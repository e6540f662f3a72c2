#include <cstring>

#include "kernels/scalar/scalar.h"

namespace outrider::kernels::scalar {

uint32_t probe_read(const std::byte* data, int64_t bytes) {
  uint32_t sum = 0, word;
  for (int64_t i = 0; i < bytes; i += 4) std::memcpy(&word, data + i, 4), sum += word;
  return sum;
}

uint32_t probe_dots(const std::byte* codes, const int32_t* a, int64_t rounds) {
  uint32_t sum = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    asm volatile("" : "+r"(codes), "+r"(a));  // others for all the compiler knows: no product is kept for the next round
    const auto* x = reinterpret_cast<const uint8_t*>(codes);
    for (int i = 0; i < kProbeWords; ++i) {
      const auto* y = reinterpret_cast<const int8_t*>(a + i);
      for (int lane = 0; lane < 16; ++lane)
        for (int j = 0; j < 4; ++j) sum += uint32_t(int(x[4 * lane + j]) * y[j]);
    }
  }
  return sum;
}

}  // namespace outrider::kernels::scalar
