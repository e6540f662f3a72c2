#include "kernels/kv_view.h"

namespace outrider::kernels {

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
