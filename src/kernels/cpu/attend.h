#pragma once
// Attention of a job's query rows for any lane type; contract in attention.h, plain form in scalar/attend.cpp.
// attend → walk_span: the blocks of a span → visit: the queries in chunks → BlockPass: one chunk over one block.
// Blocks that every row sees whole are gone through with all queries together; at the ragged ends each row goes alone.
#include <immintrin.h>  // _cvtss_sh, which every lane type here has

#include "kernels/cpu/attend_block.h"

namespace outrider::kernels::cpu {

// Codes of n values (a multiple of 16) under one scale, which is returned: max|x| / 127.
template <class L>
__attribute__((always_inline)) inline float quantise_values(const float* x, int n, int8_t* codes) {
  auto top = L::zero();
  for (int i = 0; i < n; i += 16) top = L::max(L::abs(L::load(x + i)), top);
  const float largest = L::largest(top);
  const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
  for (int i = 0; i < n; i += 16) L::store_int8(codes + i, codes_of<L>(L::load(x + i), inverse, 127.0f));
  return largest / 127.0f;
}

// Plain code: additions are the same in any vectorisation.
template <class L, int h>
__attribute__((always_inline)) inline void butterflies(float* __restrict x, int dim) {
  for (int i = 0; i < dim; i += 2 * h)
    for (int j = i; j < i + h; ++j) {
      const float a = x[j], b = x[j + h];
      x[j] = a + b, x[j + h] = a - b;
    }
}

template <class L>
void turn(const float* x, int dim, float* __restrict out) {
  const int size = dim & -dim;
  for (int d = 0; d < dim; d += 16) L::store(out + d, L::load(x + d));
  if (size > 256) butterflies<L, 256>(out, dim);
  if (size > 128) butterflies<L, 128>(out, dim);
  if (size > 64) butterflies<L, 64>(out, dim);
  if (size > 32) butterflies<L, 32>(out, dim);
  butterflies<L, 16>(out, dim), butterflies<L, 8>(out, dim), butterflies<L, 4>(out, dim), butterflies<L, 2>(out, dim), butterflies<L, 1>(out, dim);
  const auto norm = L::set(1.0f / __builtin_sqrtf(float(size)));
  for (int d = 0; d < dim; d += 16) L::store(out + d, L::mul(L::load(out + d), norm));
}

// A run of 32 as 15-bit codes in two digits.
template <class L>
__attribute__((always_inline)) inline void prepare_run(const float* x, int8_t* high, int8_t* low, float& scale, int32_t (&debt)[2]) {
  const float limit = float(kQueryCode), largest = L::largest(L::max(L::abs(L::load(x + 16)), L::max(L::abs(L::load(x)), L::zero())));
  const float inverse = largest > 0 ? limit / largest : 0.0f;
  scale = largest / limit;
  debt[0] = debt[1] = 0;
  for (int i = 0; i < 32; i += 16) {
    const auto code = codes_of<L>(L::load(x + i), inverse, limit);
    const auto up = L::template shift_right<7>(L::add_int(code, L::int_of(64)));
    const auto rest = L::sub_int(code, L::template shift_left<7>(up));
    L::store_int8(high + i, up), L::store_int8(low + i, rest);
    debt[0] -= L::sum_int(up), debt[1] -= L::sum_int(rest);
  }
}

template <class L>
void prepare(const AttendJob& job, Queries& q) {
  const int dim = job.shape->head_dim;
  for (int i = 0; i < job.queries(); ++i) {
    q.values[i] = job.rows[i / job.heads].query + i % job.heads * dim;
    if (job.shape->k_type == KvType::f16) continue;
    alignas(64) float turned[kMaxHeadDim];
    turn<L>(q.values[i], dim, turned);
    for (int run = 0; run < dim / 32; ++run) prepare_run<L>(turned + 32 * run, q.high + i * dim + 32 * run, q.low + i * dim + 32 * run, q.scale[i][run], q.debt[i][run]);
  }
}

// Queries [first, first + count) over one block, at most 8 at a time and evenly.
template <class L>
void visit(const AttendJob& job, const Queries& q, int first, int count, const BlockPlace& place, const std::byte* next, float* states) {
  using Fn = void (*)(const AttendJob&, const Queries&, int, const BlockPlace&, float*, int64_t);
  static constexpr Fn passes[kMaxChunk + 1] = {nullptr, BlockPass<L, 1>::run, BlockPass<L, 2>::run, BlockPass<L, 3>::run, BlockPass<L, 4>::run,
                                               BlockPass<L, 5>::run, BlockPass<L, 6>::run, BlockPass<L, 7>::run, BlockPass<L, 8>::run};
  const int64_t stride = span_state_floats(job.shape->head_dim);
  const int chunks = (count + kMaxChunk - 1) / kMaxChunk;
  const int64_t bytes = int64_t(job.shape->k_block_bytes() + job.shape->v_block_bytes());
  for (int c = 0; c < chunks; ++c) {
    if (next)  // each chunk fetches its share of the block that comes next. Where V does not lie behind K, its part is fetched in vain
      for (int64_t at = bytes * c / chunks / 64 * 64; at < bytes * (c + 1) / chunks; at += 64) __builtin_prefetch(next + at, 0, 3);
    const int from = first + count * c / chunks, to = first + count * (c + 1) / chunks;
    passes[to - from](job, q, from, place, states + from * stride, stride);
  }
}

// What the rows of a job see: some of them [begin, end), every one of them [all_begin, all_end), which lies in the pages.
struct JobReach {
  int64_t begin, end, all_begin, all_end;
};

__attribute__((always_inline)) static inline JobReach reach_of(const AttendJob& job) {
  JobReach reach{INT64_MAX, 0, 0, INT64_MAX};
  for (int r = 0; r < job.row_count; ++r) {
    const AttendRow& row = job.rows[r];
    const int64_t first = job.first_seen(row), end = row.position + 1, stored = row.committed < end ? row.committed : end;
    if (first < reach.begin) reach.begin = first;
    if (end > reach.end) reach.end = end;
    if (first > reach.all_begin) reach.all_begin = first;
    if (stored < reach.all_end) reach.all_end = stored;
  }
  return reach;
}

// One row over one block.
template <class L>
void visit_row(const AttendJob& job, const Queries& q, int r, int64_t first, float* states) {
  const AttendRow& row = job.rows[r];
  const int64_t seen = row.position + 1 - first, in_pages = row.committed - first, hidden = job.first_seen(row) - first;
  if (seen <= 0 || hidden >= kKvBlock) return;
  const int count = int(seen < kKvBlock ? seen : kKvBlock), stored = in_pages < 0 ? 0 : in_pages < count ? int(in_pages) : count;
  const int64_t block = first / kKvBlock;
  const std::byte* k = stored > 0 ? job.k_block(block) : job.window_k;
  const std::byte* v = stored > 0 ? job.v_block(block) : job.window_v;
  const uint8_t* path = count > stored ? row.path + (first + stored - row.committed) : nullptr;
  visit<L>(job, q, r * job.heads, job.heads, {k, v, stored, count, path, hidden > 0 ? int(hidden) : 0}, nullptr, states);
}

// All blocks of one span.
template <class L>
void walk_span(const AttendJob& job, const Queries& q, int64_t span, const JobReach& reach, float* states) {
  const int64_t begin = reach.begin / kKvBlock * kKvBlock, start = span * kSpan;
  for (int64_t first = begin > start ? begin : start; first < reach.end && first < start + kSpan; first += kKvBlock) {
    if (first < reach.all_begin || first + kKvBlock > reach.all_end) {
      for (int r = 0; r < job.row_count; ++r) visit_row<L>(job, q, r, first, states);
      continue;
    }
    const int64_t block = first / kKvBlock;
    const std::byte* next = first + 2 * kKvBlock <= reach.all_end ? job.k_block(block + 1) : nullptr;
    visit<L>(job, q, 0, job.queries(), {job.k_block(block), job.v_block(block), kKvBlock, kKvBlock, nullptr}, next, states);
  }
}

template <class L>
void start_states(int head_dim, int queries, float* states) {
  const int64_t stride = span_state_floats(head_dim);
  for (int i = 0; i < queries; ++i, states += stride) {
    for (int64_t d = 0; d < stride; d += 16) L::store(states + d, L::zero());
    states[head_dim + 16] = -__builtin_inff();
  }
}

template <class L>
void add_span(int head_dim, const float* state, float* total) {
  const float m = state[head_dim + 16], before = total[head_dim + 16], max = m > before ? m : before;
  alignas(64) float factor[16] = {before - max, m - max};
  L::store(factor, exp_lanes<L>(L::load(factor)));
  for (int d = 0; d < head_dim + 16; d += 16) L::store(total + d, L::fma(L::load(state + d), L::set(factor[1]), L::mul(L::load(total + d), L::set(factor[0]))));
  total[head_dim + 16] = max;
}

template <class L>
void finish_attend(int head_dim, const float* total, float* out) {
  const auto sum = L::set(fold<L>(L::load(total + head_dim)));
  for (int d = 0; d < head_dim; d += 16) L::store(out + d, L::div(L::load(total + d), sum));
}

template <class L>
void attend_spans(const AttendJob& job, int64_t first, int64_t count, float* states, int64_t stride) {
  Queries q;
  prepare<L>(job, q);
  const JobReach reach = reach_of(job);
  for (int64_t span = first; span < first + count; ++span, states += stride) {
    start_states<L>(job.shape->head_dim, job.queries(), states);
    walk_span<L>(job, q, span, reach, states);
  }
}

template <class L>
void attend(const AttendJob& job) {
  const int dim = job.shape->head_dim, queries = job.queries();
  const int64_t stride = span_state_floats(dim);
  alignas(64) float total[kMaxQueries * span_state_floats(kMaxHeadDim)];
  alignas(64) float states[kMaxQueries * span_state_floats(kMaxHeadDim)];
  Queries q;
  prepare<L>(job, q);
  const JobReach reach = reach_of(job);
  for (int64_t span = reach.begin / kSpan; span * kSpan < reach.end; ++span) {
    start_states<L>(dim, queries, states);
    walk_span<L>(job, q, span, reach, states);
    for (int i = 0; i < queries; ++i) {
      const SpanRange seen = spans_of(job.rows[i / job.heads].position, job.horizon);
      if (span == seen.first) __builtin_memcpy(total + i * stride, states + i * stride, size_t(stride) * sizeof(float));
      else if (seen.first < span && span < seen.end) add_span<L>(dim, states + i * stride, total + i * stride);
    }
  }
  for (int i = 0; i < queries; ++i) finish_attend<L>(dim, total + i * stride, job.rows[i / job.heads].out + i % job.heads * dim);
}

template <class L>
void store_kv(const KvShape& shape, const float* k, const float* v, std::byte* k_block, std::byte* v_block, int slot) {
  const KvView view{shape, k_block, v_block};
  const bool k8 = shape.k_type == KvType::q8_0, v8 = shape.v_type == KvType::q8_0;
  int8_t codes[kMaxHeadDim];
  for (int d = 0; d < shape.head_dim; d += 16) {
    uint16_t half[16];
    if (!k8) {
      L::store_half(half, L::load(k + d));
      for (int i = 0; i < 16; ++i) *view.k_half(slot, d + i) = half[i];
    }
    if (!v8) L::store_half(view.v_half(slot, d), L::load(v + d));
  }
  alignas(64) float turned[kMaxHeadDim];
  if (k8) turn<L>(k, shape.head_dim, turned);
  for (int run = 0; k8 && run < shape.head_dim / 32; ++run) {
    *view.k_scale(slot, run) = _cvtss_sh(quantise_values<L>(turned + 32 * run, 32, codes), 0);
    for (int i = 0; i < 32; ++i) *view.k_code(slot, 32 * run + i) = uint8_t(codes[i] + 128);
  }
  if (v8) {
    *view.v_scale(slot) = _cvtss_sh(quantise_values<L>(v, shape.head_dim, codes), 0);
    for (int d = 0; d < shape.head_dim; ++d) *view.v_code(slot, d) = codes[d];
  }
}

}  // namespace outrider::kernels::cpu
