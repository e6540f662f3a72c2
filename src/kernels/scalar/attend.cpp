#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/exp32.h"
#include "base/half.h"
#include "kernels/kv_view.h"
#include "kernels/scalar/scalar.h"

namespace outrider::kernels::scalar {

namespace {

// One head_dim-long value group of a slot, quantised in runs of 32 (q8_0).
void quantise32(const float* x, int8_t* codes, uint16_t& scale) {
  float largest = 0;
  for (int i = 0; i < 32; ++i) largest = std::fabs(x[i]) > largest ? std::fabs(x[i]) : largest;
  scale = float_to_half(largest / 127.0f);
  const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
  for (int i = 0; i < 32; ++i) {
    float q = x[i] * inverse;
    q = q < 127.0f ? q : 127.0f;
    q = q > -127.0f ? q : -127.0f;
    codes[i] = int8_t(int((q + Exp32::kRound) - Exp32::kRound));
  }
}

float key_score(const KvShape& shape, const std::byte* k_block, int slot, const float* q) {
  const KvView view{shape, const_cast<std::byte*>(k_block), nullptr};
  float sum[2] = {0, 0};
  if (shape.k_type == KvType::f16) {
    for (int d = 0; d < shape.head_dim; ++d) sum[d % 2] = std::fma(q[d], half_to_float(*view.k_half(slot, d)), sum[d % 2]);
  } else {
    for (int run = 0; run < shape.head_dim / 32; ++run) {
      float part[2] = {0, 0};
      for (int d = 32 * run; d < 32 * run + 32; ++d) part[d % 2] = std::fma(q[d], float(*view.k_code(slot, d)), part[d % 2]);
      const float scale = half_to_float(*view.k_scale(slot, run));
      for (int i = 0; i < 2; ++i) sum[i] = std::fma(scale, part[i], sum[i]);
    }
  }
  return sum[0] + sum[1];
}

float value_at(const KvShape& shape, const std::byte* v_block, int slot, int d) {
  const KvView view{shape, nullptr, const_cast<std::byte*>(v_block)};
  if (shape.v_type == KvType::f16) return half_to_float(*view.v_half(slot, d));
  return half_to_float(*view.v_scale(slot, d / 32)) * float(*view.v_code(slot, d));
}

struct Place {  // where a position of the row's past is stored
  const std::byte *k, *v;
  int slot;
};

Place place_of(const AttendJob& job, int64_t p) {
  if (p < job.committed) return {job.k_block(p / kKvBlock), job.v_block(p / kKvBlock), int(p % kKvBlock)};
  return {job.window_k, job.window_v, job.path[p - job.committed]};
}

void attend_head(const AttendJob& job, const float* q, float* out) {
  const int dim = job.shape->head_dim;
  float max = -std::numeric_limits<float>::infinity(), lanes[16] = {};
  std::vector<float> acc(size_t(dim), 0.0f);
  for (int64_t first = 0; first <= job.position; first += kKvBlock) {
    const int count = int(std::min<int64_t>(kKvBlock, job.position + 1 - first));
    float weight[kKvBlock], block_max = -std::numeric_limits<float>::infinity();
    for (int i = 0; i < count; ++i) {
      const Place place = place_of(job, first + i);
      weight[i] = job.scale * key_score(*job.shape, place.k, place.slot, q);
      block_max = weight[i] > block_max ? weight[i] : block_max;
    }
    const float new_max = block_max > max ? block_max : max;
    const float fade = exp32(max - new_max);
    max = new_max;
    for (float& l : lanes) l *= fade;
    for (float& x : acc) x *= fade;
    for (int i = 0; i < count; ++i) {
      weight[i] = exp32(weight[i] - max);
      lanes[i % 16] += weight[i];
      const Place place = place_of(job, first + i);
      for (int d = 0; d < dim; ++d) acc[size_t(d)] = std::fma(weight[i], value_at(*job.shape, place.v, place.slot, d), acc[size_t(d)]);
    }
  }
  const float total = fold(lanes);
  for (int d = 0; d < dim; ++d) out[d] = acc[size_t(d)] / total;
}

}  // namespace

void store_kv(const KvShape& shape, const float* k, const float* v, std::byte* k_block, std::byte* v_block, int slot) {
  const KvView view{shape, k_block, v_block};
  int8_t codes[32];
  for (int d = 0; d < shape.head_dim; ++d) {
    if (shape.k_type == KvType::f16) *view.k_half(slot, d) = float_to_half(k[d]);
    if (shape.v_type == KvType::f16) *view.v_half(slot, d) = float_to_half(v[d]);
  }
  for (int run = 0; run < shape.head_dim / 32; ++run) {
    if (shape.k_type == KvType::q8_0) {
      quantise32(k + 32 * run, codes, *view.k_scale(slot, run));
      for (int i = 0; i < 32; ++i) *view.k_code(slot, 32 * run + i) = codes[i];
    }
    if (shape.v_type == KvType::q8_0) {
      quantise32(v + 32 * run, codes, *view.v_scale(slot, run));
      for (int i = 0; i < 32; ++i) *view.v_code(slot, 32 * run + i) = codes[i];
    }
  }
}

void attend(const AttendJob& job) {
  for (int h = 0; h < job.heads; ++h) attend_head(job, job.query + h * job.shape->head_dim, job.out + h * job.shape->head_dim);
}

}  // namespace outrider::kernels::scalar
