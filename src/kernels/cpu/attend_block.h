#pragma once
// One block of 64 positions seen by R queries of one kv head, for any lane type: scores, softmax weights, weighted values.
// R queries share every load of a key or a value. The order of all sums is in attention.h.
#include "kernels/cpu/rows.h"
#include "kernels/kernels.h"
#include "kernels/kv_view.h"

namespace outrider::kernels::cpu {

inline constexpr int kMaxChunk = 8;  // queries that go through a block together

// The queries of a job, row by row and head by head, in the form K wants them.
struct Queries {
  const float* values[kMaxQueries];
  alignas(64) int8_t high[kMaxQueries * kMaxHeadDim], low[kMaxQueries * kMaxHeadDim];  // [query][head_dim]: code = 128·high + low
  float scale[kMaxQueries][kMaxHeadDim / 32];
  int32_t debt[kMaxQueries][kMaxHeadDim / 32][2];  // −Σ high, −Σ low of a run
};

// A block as a chunk of queries sees it: `stored` positions of the page, then, for queries of one row, window slots up to `count`.
struct BlockPlace {
  const std::byte *k, *v;
  int stored, count;
  const uint8_t* path;  // window slots of positions stored … count − 1
  int hidden = 0;       // positions 0 … hidden − 1 lie beyond the horizon
};

template <class L>
__attribute__((always_inline)) inline typename L::I run_start(int32_t debt) {
  if constexpr (L::kBiasedDot) return L::template broadcast_shifted<7>(&debt);
  else return L::zero_int();
}

// scores[r][0, 16·groups) = q_r · k.
template <class L, int R>
__attribute__((always_inline)) inline void scores_of_codes(const KvShape& shape, const std::byte* block, int groups, const Queries& q, int first, float* scores, int stride) {
  const int dim = shape.head_dim, runs = dim / 32;
  const std::byte* scale = block + int64_t(kKvBlock) * dim;
  const std::byte* k = block;
  for (int group = 0; group < groups; ++group) {
    typename L::F sum[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sum[r] = L::zero();
    for (int run = 0; run < runs; ++run, k += 512, scale += 32) {
      typename L::I high[R], low[R];
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) high[r] = run_start<L>(q.debt[first + r][run][0]), low[r] = run_start<L>(q.debt[first + r][run][1]);
      const int64_t at = int64_t(first) * dim + 32 * run;
#pragma GCC unroll 8
      for (int g = 0; g < 8; ++g) {
        const auto keys = L::load_bytes(k + 64 * g);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
          high[r] = L::dot_signed(high[r], keys, reinterpret_cast<const int32_t*>(q.high + at + r * dim + 4 * g));
          low[r] = L::dot_signed(low[r], keys, reinterpret_cast<const int32_t*>(q.low + at + r * dim + 4 * g));
        }
      }
      const auto k_scale = L::load_half(scale);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const auto dot = L::add_int(L::template shift_left<7>(high[r]), low[r]);
        sum[r] = L::fma(L::to_float(dot), L::mul(k_scale, L::set(q.scale[first + r][run])), sum[r]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) L::store(scores + r * stride + 16 * group, sum[r]);
  }
}

template <class L, int R>
__attribute__((always_inline)) inline void scores_of_halves(const KvShape& shape, const std::byte* block, int groups, const Queries& q, int first, float* scores, int stride) {
  const int dim = shape.head_dim;
  for (int group = 0; group < groups; ++group) {
    typename L::F even[R], odd[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) even[r] = odd[r] = L::zero();
    const std::byte* k = block + int64_t(group) * dim * 32;
    for (int d = 0; d < dim; d += 2, k += 64) {
      const auto k0 = L::load_half(k), k1 = L::load_half(k + 32);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const float* x = q.values[first + r] + d;
        even[r] = L::fma(L::set(x[0]), k0, even[r]), odd[r] = L::fma(L::set(x[1]), k1, odd[r]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) L::store(scores + r * stride + 16 * group, L::add(even[r], odd[r]));
  }
}

// Vectors of 16 dimensions that R queries sum at once: as many as fit the registers.
constexpr int value_columns(int registers, int queries) {
  int columns = 8;
  while (columns > 1 && queries * columns + queries > registers) columns /= 2;
  return columns;
}

// acc[r] = acc[r]·fade[r] + Σ_i weight[r][i] · v_i; rows[i] is where the value of the block's position i lies.
template <class L, int R, int D>
__attribute__((always_inline)) inline void sum_halves(const std::byte* const* rows, int count, int d, const float* weight, const float* fade, float* acc, int64_t acc_stride) {
  typename L::F sum[R][D];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < D; ++j) sum[r][j] = L::mul(L::load(acc + r * acc_stride + d + 16 * j), L::set(fade[r]));
  for (int i = 0; i < count; ++i) {
    typename L::F v[D];
#pragma GCC unroll 8
    for (int j = 0; j < D; ++j) v[j] = L::load_half(rows[i] + 2 * (d + 16 * j));
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int j = 0; j < D; ++j) sum[r][j] = L::fma(L::set(weight[r * kKvBlock + i]), v[j], sum[r][j]);
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < D; ++j) L::store(acc + r * acc_stride + d + 16 * j, sum[r][j]);
}

// A block's value codes and, four positions to a word, the weights' codes of R queries.
inline constexpr int kCodeStride = kKvBlock + kWindowSlots;  // page slots, then window slots
struct CodedValues {
  const std::byte* block;
  const uint8_t* codes;
  int quads;
};

template <class L, int R, int D>
__attribute__((always_inline)) inline void sum_codes(const CodedValues (&parts)[2], int dim, int d, const float* unit, const float* fade, float* acc, int64_t acc_stride) {
  typename L::I dot[R][D];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < D; ++j) dot[r][j] = L::zero_int();
  for (const CodedValues& part : parts) {
    const std::byte* v = part.block + int64_t(d) * 4;
    for (int quad = 0; quad < part.quads; ++quad, v += int64_t(dim) * 4) {
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (int j = 0; j < D; ++j) dot[r][j] = L::dot_weights(dot[r][j], part.codes + r * kCodeStride + 4 * quad, v + 64 * j);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int j = 0; j < D; ++j) {
      float* y = acc + r * acc_stride + d + 16 * j;
      L::store(y, L::fma(L::to_float(dot[r][j]), L::set(unit[r]), L::mul(L::load(y), L::set(fade[r]))));
    }
}

template <class L, int R>
struct BlockPass {
  static constexpr int D = value_columns(L::kRegisters, R);
  using F = typename L::F;
  alignas(64) float weight[R * kKvBlock];
  alignas(64) float fade[16], unit[16];

  // Scores of the block's positions in order.
  void score(const AttendJob& job, const Queries& q, int first, const BlockPlace& place) {
    const KvShape& shape = *job.shape;
    const auto scores = [&](const std::byte* block, int groups, float* out, int stride) __attribute__((always_inline)) {
      if (shape.k_type == KvType::f16) scores_of_halves<L, R>(shape, block, groups, q, first, out, stride);
      else scores_of_codes<L, R>(shape, block, groups, q, first, out, stride);
    };
    scores(place.k, (place.stored + 15) / 16, weight, kKvBlock);
    if (place.count > place.stored) {
      alignas(64) float window[R * kWindowSlots];
      scores(job.window_k, kWindowSlots / 16, window, kWindowSlots);
      for (int r = 0; r < R; ++r)
        for (int i = place.stored; i < place.count; ++i) weight[r * kKvBlock + i] = window[r * kWindowSlots + place.path[i - place.stored]];
    }
    for (int r = 0; r < R; ++r)
      for (int i = 0; i < place.hidden; ++i) weight[r * kKvBlock + i] = -__builtin_inff();
  }

  // Scores become weights; m and l move on, what they were before fades.
  void soften(float scale, int count, float* states, int64_t stride, int dim) {
    float new_max[R];
    L::store(fade, L::zero());
    for (int r = 0; r < R; ++r) {
      float* w = weight + r * kKvBlock;
      F top = L::set(-__builtin_inff());
      for (int g = 0; g < 4; ++g) {
        const F s = L::keep_first(L::mul(L::set(scale), L::load(w + 16 * g)), count - 16 * g < 0 ? 0 : count - 16 * g);
        L::store(w + 16 * g, s);
        top = L::max(s, top);
      }
      float& max = states[r * stride + dim + 16];
      const float block_max = L::largest(top);
      new_max[r] = block_max > max ? block_max : max;
      fade[r] = max - new_max[r];
      max = new_max[r];
    }
    L::store(fade, exp_lanes<L>(L::load(fade)));
    for (int r = 0; r < R; ++r) {
      float *w = weight + r * kKvBlock, *lanes = states + r * stride + dim;
      F sum = L::mul(L::load(lanes), L::set(fade[r]));
      for (int g = 0; g < 4; ++g) {
        const F e = exp_lanes<L>(L::sub(L::load(w + 16 * g), L::set(new_max[r])));
        L::store(w + 16 * g, e);
        sum = L::add(sum, e);
      }
      L::store(lanes, sum);
    }
  }

  void add_halves(const AttendJob& job, const BlockPlace& place, float* states, int64_t stride) {
    const int dim = job.shape->head_dim;
    const std::byte* rows[kKvBlock];
    for (int i = 0; i < place.count; ++i) {
      const bool stored = i < place.stored;
      rows[i] = (stored ? place.v : job.window_v) + int64_t(stored ? i : place.path[i - place.stored]) * dim * 2;
    }
    const int from = place.hidden, count = place.count - from;
    int d = 0;
    for (; d + 16 * D <= dim; d += 16 * D) sum_halves<L, R, D>(rows + from, count, d, weight + from, fade, states, stride);
    for (; d < dim; d += 16) sum_halves<L, R, 1>(rows + from, count, d, weight + from, fade, states, stride);
  }

  // Weights times value scales as codes 0…255, in the order of the slots of page and window.
  void code_weights(const AttendJob& job, const BlockPlace& place, uint8_t* codes) {
    const int dim = job.shape->head_dim;
    alignas(64) float scale[kKvBlock];
    const std::byte *page = place.v + int64_t(kKvBlock) * dim, *window = job.window_v + int64_t(kKvBlock) * dim;
    for (int g = 0; g < 4; ++g) L::store(scale + 16 * g, L::load_half(page + 32 * g));
    if (place.count > place.stored) {
      alignas(64) float window_scale[kWindowSlots];
      for (int g = 0; g < kWindowSlots / 16; ++g) L::store(window_scale + 16 * g, L::load_half(window + 32 * g));
      for (int i = place.stored; i < place.count; ++i) scale[i] = window_scale[place.path[i - place.stored]];
    }
    for (int r = 0; r < R; ++r) {
      uint8_t* out = codes + r * kCodeStride;
      F u[4], top = L::zero();
      for (int g = 0; g < 4; ++g) {
        u[g] = L::keep_first(L::mul(L::load(weight + r * kKvBlock + 16 * g), L::load(scale + 16 * g)), place.count - 16 * g < 0 ? 0 : place.count - 16 * g);
        top = L::max(u[g], top);
      }
      const float largest = L::largest(top), inverse = largest > 0 ? 255.0f / largest : 0.0f;
      for (int g = 0; g < 4; ++g) L::store_uint8(out + 16 * g, L::round(L::max(L::mul(u[g], L::set(inverse)), L::zero())));
      unit[r] = largest * (1.0f / 255);
      if (place.count == place.stored) continue;
      for (int i = 0; i < kWindowSlots; ++i) out[kKvBlock + i] = 0;
      for (int i = place.stored; i < place.count; ++i) out[kKvBlock + place.path[i - place.stored]] = out[i], out[i] = 0;
    }
  }

  void add_codes(const AttendJob& job, const BlockPlace& place, float* states, int64_t stride) {
    alignas(64) uint8_t codes[R * kCodeStride];
    code_weights(job, place, codes);
    const int dim = job.shape->head_dim;
    const CodedValues parts[2] = {{place.v, codes, (place.stored + 3) / 4}, {job.window_v, codes + kKvBlock, place.count > place.stored ? kWindowSlots / 4 : 0}};
    int d = 0;
    for (; d + 16 * D <= dim; d += 16 * D) sum_codes<L, R, D>(parts, dim, d, unit, fade, states, stride);
    for (; d < dim; d += 16) sum_codes<L, R, 1>(parts, dim, d, unit, fade, states, stride);
  }

  // Queries [first, first + R) over one block; states are theirs.
  __attribute__((noinline)) static void run(const AttendJob& job, const Queries& q, int first, const BlockPlace& place, float* states, int64_t stride) {
    BlockPass pass;
    pass.score(job, q, first, place);
    pass.soften(job.scale, place.count, states, stride, job.shape->head_dim);
    if (job.shape->v_type == KvType::f16) pass.add_halves(job, place, states, stride);
    else pass.add_codes(job, place, states, stride);
  }
};

}  // namespace outrider::kernels::cpu
