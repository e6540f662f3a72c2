#pragma once
// Attention of one query row for any lane type; contract and order in attention.h, plain form in scalar/attend.cpp.
// The heads that share a kv head go through each block together, so a key or value is widened once for all of them.
#include "base/exp32.h"
#include "kernels/cpu/rows.h"
#include "kernels/kernels.h"
#include "kernels/kv_view.h"

namespace outrider::kernels::cpu {

inline constexpr int kMaxGroup = 8;  // query heads in one pass over the blocks

// scores[h][16] = Σ over the 16 positions of a group, for H heads.
template <class L, int H>
__attribute__((always_inline)) inline void key_scores(const KvShape& shape, const std::byte* k_block, int group, const float* q, float* scores) {
  using F = typename L::F;
  const int dim = shape.head_dim;
  F even[H], odd[H];
#pragma GCC unroll 8
  for (int h = 0; h < H; ++h) even[h] = odd[h] = L::zero();
  if (shape.k_type == KvType::f16) {
    const std::byte* p = k_block + int64_t(group) * dim * 32;
    for (int d = 0; d < dim; d += 2, p += 64) {
      const F k0 = L::load_half(p), k1 = L::load_half(p + 32);
#pragma GCC unroll 8
      for (int h = 0; h < H; ++h) even[h] = L::fma(L::set(q[h * dim + d]), k0, even[h]), odd[h] = L::fma(L::set(q[h * dim + d + 1]), k1, odd[h]);
    }
  } else {
    const std::byte* p = k_block + int64_t(group) * dim * 16;
    const std::byte* s = k_block + int64_t(kKvBlock) * dim + int64_t(group) * (dim / 32) * 32;
    for (int run = 0; run < dim / 32; ++run, s += 32) {
      F part0[H], part1[H];
#pragma GCC unroll 8
      for (int h = 0; h < H; ++h) part0[h] = part1[h] = L::zero();
      for (int d = 32 * run; d < 32 * run + 32; d += 2, p += 32) {
        const F k0 = L::load_i8(p), k1 = L::load_i8(p + 16);
#pragma GCC unroll 8
        for (int h = 0; h < H; ++h) part0[h] = L::fma(L::set(q[h * dim + d]), k0, part0[h]), part1[h] = L::fma(L::set(q[h * dim + d + 1]), k1, part1[h]);
      }
      const F scale = L::load_half(s);
#pragma GCC unroll 8
      for (int h = 0; h < H; ++h) even[h] = L::fma(scale, part0[h], even[h]), odd[h] = L::fma(scale, part1[h], odd[h]);
    }
  }
#pragma GCC unroll 8
  for (int h = 0; h < H; ++h) L::store(scores + h * kKvBlock, L::add(even[h], odd[h]));
}

struct Slots {  // V rows of one block's positions, in order
  const std::byte* block[kKvBlock];
  uint8_t slot[kKvBlock];
};

// acc[h][dim] += Σ_i weight[h][i] · v_i, i ascending, 16 dimensions at a time.
template <class L, int H>
__attribute__((always_inline)) inline void add_values(const KvShape& shape, const Slots& slots, int count, const float* weight, float* acc, int acc_stride) {
  using F = typename L::F;
  const int dim = shape.head_dim;
  const bool half = shape.v_type == KvType::f16;
  for (int d = 0; d < dim; d += 16) {
    F sum[H];
#pragma GCC unroll 8
    for (int h = 0; h < H; ++h) sum[h] = L::load(acc + h * acc_stride + d);
    for (int i = 0; i < count; ++i) {
      const std::byte* block = slots.block[i];
      const int64_t at = int64_t(slots.slot[i]) * dim + d;
      F v;
      if (half) {
        v = L::load_half(block + at * 2);
      } else {
        const auto* scale = reinterpret_cast<const uint16_t*>(block + int64_t(kKvBlock) * dim) + slots.slot[i] * (dim / 32) + d / 32;
        v = L::mul(L::set(_cvtsh_ss(*scale)), L::load_i8(block + at));
      }
#pragma GCC unroll 8
      for (int h = 0; h < H; ++h) sum[h] = L::fma(L::set(weight[h * kKvBlock + i]), v, sum[h]);
    }
#pragma GCC unroll 8
    for (int h = 0; h < H; ++h) L::store(acc + h * acc_stride + d, sum[h]);
  }
}

// Softmax state of up to kMaxGroup heads while the blocks go by.
struct HeadState {
  alignas(64) float acc[kMaxGroup * kMaxHeadDim];
  alignas(64) float lanes[kMaxGroup][16];
  alignas(64) float weight[kMaxGroup * kKvBlock];
  alignas(64) float window_scores[kMaxGroup * kKvBlock];
  float max[kMaxGroup];
};

// Turns a block's scores (first `count` valid) into weights and fades what is summed so far.
template <class L>
__attribute__((always_inline)) inline void soften(const AttendJob& job, int h, int count, HeadState& s) {
  using F = typename L::F;
  float* w = s.weight + h * kKvBlock;
  const F scale = L::set(job.scale);
  F score[4], top = L::set(-__builtin_inff());
  for (int g = 0; g < 4; ++g) {
    score[g] = L::keep_first(L::mul(scale, L::load(w + 16 * g)), count - 16 * g < 0 ? 0 : count - 16 * g);
    top = L::max(score[g], top);
  }
  float l[16], new_max = s.max[h];
  L::store(l, top);
  for (const float x : l) new_max = x > new_max ? x : new_max;
  float fade[16];
  L::store(fade, exp_lanes<L>(L::set(s.max[h] - new_max)));
  s.max[h] = new_max;
  F lanes = L::mul(L::load(s.lanes[h]), L::set(fade[0]));
  for (int g = 0; g < 4; ++g) {
    const F weight = exp_lanes<L>(L::sub(score[g], L::set(new_max)));
    L::store(w + 16 * g, weight);
    lanes = L::add(lanes, weight);
  }
  L::store(s.lanes[h], lanes);
  float* acc = s.acc + h * job.shape->head_dim;
  for (int d = 0; d < job.shape->head_dim; d += 16) L::store(acc + d, L::mul(L::load(acc + d), L::set(fade[0])));
}

template <class L, int H>
void attend_group(const AttendJob& job, const float* q, float* out) {
  const KvShape& shape = *job.shape;
  const int dim = shape.head_dim;
  HeadState s;
  for (int h = 0; h < H; ++h) {
    s.max[h] = -__builtin_inff();
    L::store(s.lanes[h], L::zero());
    for (int d = 0; d < dim; d += 16) L::store(s.acc + h * dim + d, L::zero());
  }
  if (job.position >= job.committed)
    for (int group = 0; group < 2; ++group) key_scores<L, H>(shape, job.window_k, group, q, s.window_scores + 16 * group);
  Slots slots;
  for (int64_t first = 0; first <= job.position; first += kKvBlock) {
    const int count = job.position + 1 - first < kKvBlock ? int(job.position + 1 - first) : kKvBlock;
    const int64_t left = job.committed - first;
    const int stored = left < 0 ? 0 : left < count ? int(left) : count;  // of this block's positions, those in the pages
    for (int group = 0; group * 16 < stored; ++group) key_scores<L, H>(shape, job.k_block(first / kKvBlock), group, q, s.weight + 16 * group);
    const std::byte* v_block = stored > 0 ? job.v_block(first / kKvBlock) : nullptr;
    for (int i = 0; i < stored; ++i) slots.block[i] = v_block, slots.slot[i] = uint8_t(i);
    for (int i = stored; i < count; ++i) {
      const uint8_t slot = job.path[first + i - job.committed];
      slots.block[i] = job.window_v, slots.slot[i] = slot;
      for (int h = 0; h < H; ++h) s.weight[h * kKvBlock + i] = s.window_scores[h * kKvBlock + slot];
    }
    for (int h = 0; h < H; ++h) soften<L>(job, h, count, s);
    add_values<L, H>(shape, slots, count, s.weight, s.acc, dim);
  }
  for (int h = 0; h < H; ++h) {
    const auto total = L::set(fold<L>(L::load(s.lanes[h])));
    for (int d = 0; d < dim; d += 16) L::store(out + h * dim + d, L::div(L::load(s.acc + h * dim + d), total));
  }
}

template <class L>
void attend(const AttendJob& job) {
  for (int h = 0; h < job.heads;) {
    const float* q = job.query + h * job.shape->head_dim;
    float* out = job.out + h * job.shape->head_dim;
    const int left = job.heads - h;
    if (left >= 8) attend_group<L, 8>(job, q, out), h += 8;
    else if (left == 7) attend_group<L, 7>(job, q, out), h += 7;
    else if (left == 6) attend_group<L, 6>(job, q, out), h += 6;
    else if (left == 5) attend_group<L, 5>(job, q, out), h += 5;
    else if (left == 4) attend_group<L, 4>(job, q, out), h += 4;
    else if (left == 3) attend_group<L, 3>(job, q, out), h += 3;
    else if (left == 2) attend_group<L, 2>(job, q, out), h += 2;
    else attend_group<L, 1>(job, q, out), h += 1;
  }
}

template <class L>
__attribute__((always_inline)) inline uint16_t quantise_run(const float* x, int8_t* codes) {
  using F = typename L::F;
  const F v0 = L::load(x), v1 = L::load(x + 16);
  float l[16], largest = 0;
  L::store(l, L::max(L::abs(v1), L::max(L::abs(v0), L::zero())));
  for (int i = 0; i < 16; ++i) largest = l[i] > largest ? l[i] : largest;
  const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
  for (int h = 0; h < 2; ++h)
    L::store_int8(codes + 16 * h, L::round(L::max(L::min(L::mul(h ? v1 : v0, L::set(inverse)), L::set(127.0f)), L::set(-127.0f))));
  return _cvtss_sh(largest / 127.0f, 0);
}

template <class L>
void store_kv(const KvShape& shape, const float* k, const float* v, std::byte* k_block, std::byte* v_block, int slot) {
  const KvView view{shape, k_block, v_block};
  const bool k8 = shape.k_type == KvType::q8_0, v8 = shape.v_type == KvType::q8_0;
  for (int d = 0; d < shape.head_dim; d += 16) {
    uint16_t half[16];
    if (!k8) {
      L::store_half(half, L::load(k + d));
      for (int i = 0; i < 16; ++i) *view.k_half(slot, d + i) = half[i];
    }
    if (!v8) L::store_half(view.v_half(slot, d), L::load(v + d));
  }
  for (int run = 0; run < shape.head_dim / 32; ++run) {
    int8_t codes[32];
    if (k8) {
      *view.k_scale(slot, run) = quantise_run<L>(k + 32 * run, codes);
      for (int i = 0; i < 32; ++i) *view.k_code(slot, 32 * run + i) = codes[i];
    }
    if (v8) *view.v_scale(slot, run) = quantise_run<L>(v + 32 * run, view.v_code(slot, 32 * run));
  }
}

}  // namespace outrider::kernels::cpu
