// Attention and the KV layout as plain loops; the contract is in attention.h.
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

constexpr float kLowest = -std::numeric_limits<float>::infinity();

// Codes of n values in ±top under one scale, which is returned: max|x| / top.
template <class Code>
float quantise_values(const float* x, int n, int top, Code* codes) {
  float largest = 0;
  for (int i = 0; i < n; ++i) largest = std::fabs(x[i]) > largest ? std::fabs(x[i]) : largest;
  const float limit = float(top), inverse = largest > 0 ? limit / largest : 0.0f;
  for (int i = 0; i < n; ++i) {
    float q = x[i] * inverse;
    q = q < limit ? q : limit;
    q = q > -limit ? q : -limit;
    codes[i] = Code(int((q + Exp32::kRound) - Exp32::kRound));
  }
  return largest / limit;
}

void turn(float* x, int dim) {
  const int size = dim & -dim;
  const float norm = 1.0f / std::sqrt(float(size));
  for (float* part = x; part < x + dim; part += size) {
    for (int h = size / 2; h >= 1; h /= 2)
      for (int i = 0; i < size; ++i)
        if (!(i & h)) {
          const float a = part[i], b = part[i + h];
          part[i] = a + b, part[i + h] = a - b;
        }
    for (int i = 0; i < size; ++i) part[i] *= norm;
  }
}

float key_dot(const KvShape& shape, const std::byte* k_block, int slot, const float* q) {
  const KvView view{shape, const_cast<std::byte*>(k_block), nullptr};
  if (shape.k_type == KvType::f16) {
    float sum[2] = {0, 0};
    for (int d = 0; d < shape.head_dim; ++d) sum[d % 2] = std::fma(q[d], half_to_float(*view.k_half(slot, d)), sum[d % 2]);
    return sum[0] + sum[1];
  }
  float sum = 0, turned[kMaxHeadDim];
  std::copy_n(q, shape.head_dim, turned);
  turn(turned, shape.head_dim);
  for (int run = 0; run < shape.head_dim / 32; ++run) {
    int16_t codes[32];
    const float q_scale = quantise_values(turned + 32 * run, 32, kQueryCode, codes);
    int dot = 0;
    for (int i = 0; i < 32; ++i) dot += codes[i] * (*view.k_code(slot, 32 * run + i) - 128);
    sum = std::fma(float(dot), half_to_float(*view.k_scale(slot, run)) * q_scale, sum);
  }
  return sum;
}

struct Place {  // where a position of a row's past is stored
  const std::byte *k, *v;
  int slot;
};

Place place_of(const AttendJob& job, const AttendRow& row, int64_t p) {
  if (p < row.committed) return {job.k_block(p / kKvBlock), job.v_block(p / kKvBlock), int(p % kKvBlock)};
  return {job.window_k, job.window_v, row.path[p - row.committed]};
}

// acc = acc · fade + Σ weight_i · v_i over positions first + i.
void add_values(const AttendJob& job, const AttendRow& row, int64_t first, int count, const float* weight, float fade, float* acc) {
  const KvShape& shape = *job.shape;
  const auto view = [&](int i) { return KvView{shape, nullptr, const_cast<std::byte*>(place_of(job, row, first + i).v)}; };
  const auto slot = [&](int i) { return place_of(job, row, first + i).slot; };
  if (shape.v_type == KvType::f16) {
    for (int d = 0; d < shape.head_dim; ++d) {
      acc[d] *= fade;
      for (int i = 0; i < count; ++i) acc[d] = std::fma(weight[i], half_to_float(*view(i).v_half(slot(i), d)), acc[d]);
    }
    return;
  }
  float u[kKvBlock], top = 0;
  for (int i = 0; i < count; ++i) {
    u[i] = weight[i] * half_to_float(*view(i).v_scale(slot(i)));
    top = u[i] > top ? u[i] : top;
  }
  const float inverse = top > 0 ? 255.0f / top : 0.0f;
  int codes[kKvBlock];
  for (int i = 0; i < count; ++i) codes[i] = int((u[i] * inverse + Exp32::kRound) - Exp32::kRound);
  for (int d = 0; d < shape.head_dim; ++d) {
    int dot = 0;
    for (int i = 0; i < count; ++i) dot += codes[i] * *view(i).v_code(slot(i), d);
    acc[d] = std::fma(float(dot), top * (1.0f / 255), acc[d] * fade);
  }
}

void attend_query(const AttendJob& job, const AttendRow& row, int head, int64_t span, float* state) {
  const int dim = job.shape->head_dim;
  const float* q = row.query + head * dim;
  float *acc = state, *lanes = state + dim, &max = state[dim + 16];
  std::fill(state, state + span_state_floats(dim), 0.0f);
  max = kLowest;
  for (int64_t block = span * kSpan; block < (span + 1) * kSpan; block += kKvBlock) {
    const int64_t first = std::max(block, job.first_seen(row));
    const int count = int(std::min(block + kKvBlock, row.position + 1) - first);
    if (count <= 0) continue;
    float weight[kKvBlock], new_max = max;
    for (int i = 0; i < count; ++i) {
      const Place place = place_of(job, row, first + i);
      weight[i] = job.scale * key_dot(*job.shape, place.k, place.slot, q);
      new_max = weight[i] > new_max ? weight[i] : new_max;
    }
    const float fade = exp32(max - new_max);
    max = new_max;
    for (int l = 0; l < 16; ++l) lanes[l] *= fade;
    for (int i = 0; i < count; ++i) lanes[(first + i) % 16] += weight[i] = exp32(weight[i] - max);
    add_values(job, row, first, count, weight, fade, acc);
  }
}

}  // namespace

void store_kv(const KvShape& shape, const float* k, const float* v, std::byte* k_block, std::byte* v_block, int slot) {
  const KvView view{shape, k_block, v_block};
  int8_t codes[kMaxHeadDim];
  for (int d = 0; d < shape.head_dim; ++d) {
    if (shape.k_type == KvType::f16) *view.k_half(slot, d) = float_to_half(k[d]);
    if (shape.v_type == KvType::f16) *view.v_half(slot, d) = float_to_half(v[d]);
  }
  float turned[kMaxHeadDim];
  std::copy_n(k, shape.head_dim, turned);
  turn(turned, shape.head_dim);
  for (int run = 0; shape.k_type == KvType::q8_0 && run < shape.head_dim / 32; ++run) {
    *view.k_scale(slot, run) = float_to_half(quantise_values(turned + 32 * run, 32, 127, codes));
    for (int i = 0; i < 32; ++i) *view.k_code(slot, 32 * run + i) = uint8_t(codes[i] + 128);
  }
  if (shape.v_type == KvType::q8_0) {
    *view.v_scale(slot) = float_to_half(quantise_values(v, shape.head_dim, 127, codes));
    for (int d = 0; d < shape.head_dim; ++d) *view.v_code(slot, d) = codes[d];
  }
}

void attend_spans(const AttendJob& job, int64_t first, int64_t count, float* states, int64_t stride) {
  for (int64_t s = 0; s < count; ++s)
    for (int q = 0; q < job.queries(); ++q)
      attend_query(job, job.rows[q / job.heads], q % job.heads, first + s, states + s * stride + q * span_state_floats(job.shape->head_dim));
}

void add_span(int head_dim, const float* state, float* total) {
  const float m = state[head_dim + 16];
  float& max = total[head_dim + 16];
  const float new_max = m > max ? m : max;
  const float a = exp32(max - new_max), b = exp32(m - new_max);
  for (int i = 0; i < head_dim + 16; ++i) total[i] = std::fma(state[i], b, total[i] * a);
  max = new_max;
}

void finish_attend(int head_dim, const float* total, float* out) {
  float lanes[16];
  std::copy_n(total + head_dim, 16, lanes);
  const float sum = fold(lanes);
  for (int d = 0; d < head_dim; ++d) out[d] = total[d] / sum;
}

void attend(const AttendJob& job) {
  const int dim = job.shape->head_dim;
  std::vector<float> total(size_t(span_state_floats(dim))), state(total.size());
  for (int q = 0; q < job.queries(); ++q) {
    const AttendRow& row = job.rows[q / job.heads];
    const SpanRange spans = spans_of(row.position, job.horizon);
    attend_query(job, row, q % job.heads, spans.first, total.data());
    for (int64_t span = spans.first + 1; span < spans.end; ++span) {
      attend_query(job, row, q % job.heads, span, state.data());
      add_span(dim, state.data(), total.data());
    }
    finish_attend(dim, total.data(), row.out + q % job.heads * dim);
  }
}

}  // namespace outrider::kernels::scalar
