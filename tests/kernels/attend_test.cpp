// Attention: every table gives scalar's bits; rows in the window and the same rows in the pages give the same bits; trees see only
// their ancestors; nothing is seen beyond a horizon; and the result is softmax(qK)V.
#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "kernels/support.h"

namespace outrider::kernels::test {
namespace {

struct Past {  // positions 0…n−1 of one kv head, stored in pages that lie in reverse order
  KvShape shape;
  std::vector<std::vector<float>> keys, values;
  std::vector<int> pages;
  Aligned memory;

  size_t stride() const { return shape.k_block_bytes() + shape.v_block_bytes(); }
  std::byte* k(int64_t block) { return memory.data() + size_t(pages[size_t(block)]) * stride(); }
  std::byte* v(int64_t block) { return k(block) + shape.k_block_bytes(); }

  Past(const Kernels& kernels, KvShape s, int n, uint32_t seed) : shape(s), memory(size_t((n + 63) / 64) * stride()) {
    for (int b = (n + 63) / 64 - 1; b >= 0; --b) pages.push_back(b);
    for (int p = 0; p < n; ++p) {
      keys.push_back(random_floats(size_t(shape.head_dim), seed + uint32_t(2 * p)));
      values.push_back(random_floats(size_t(shape.head_dim), seed + uint32_t(2 * p + 1)));
      kernels.store_kv(shape, keys.back().data(), values.back().data(), k(p / 64), v(p / 64), p % kKvBlock);
    }
  }

  AttendJob job(std::span<const AttendRow> rows, int heads, int64_t horizon) const {
    return {.shape = &shape, .heads = heads, .scale = 0.17f, .horizon = horizon, .rows = rows.data(), .row_count = int(rows.size()), .pages = pages.data(),
            .k_base = memory.data(), .v_base = memory.data() + shape.k_block_bytes(), .page_stride = stride()};
  }
};

// What every query comes to when attended alone.
std::vector<float> alone(const Kernels& kernels, const Past& past, const std::vector<float>& q, int heads, int64_t position, int64_t horizon = 0) {
  std::vector<float> out(q.size());
  const AttendRow row{.query = q.data(), .out = out.data(), .position = position, .committed = position + 1};
  kernels.attend(past.job({&row, 1}, heads, horizon));
  return out;
}

using Case = std::tuple<KvType, KvType, int>;
class AttendTest : public testing::TestWithParam<Case> {
 protected:
  KvShape shape() const { return {std::get<0>(GetParam()), std::get<1>(GetParam()), std::get<2>(GetParam())}; }
};

// The last row of a past, by every table and with so and so many of its last positions in the window.
void expect_scalar_bits(const KvShape& s, int length, int heads, int64_t horizon) {
  const auto q = random_floats(size_t(heads * s.head_dim), 99);
  const Past truth(kScalarKernels, s, length, 1000);
  const auto expect = alone(kScalarKernels, truth, q, heads, length - 1, horizon);
  for (const Kernels* t : tables()) {
    const Past past(*t, s, length, 1000);
    ASSERT_EQ(std::memcmp(past.memory.data(), truth.memory.data(), truth.memory.size), 0) << t->name;
    for (const int in_window : {0, 1, 2, 5, 30}) {
      if (in_window > length) continue;
      Aligned wk(s.k_block_bytes()), wv(s.v_block_bytes());
      uint8_t path[kWindowSlots];
      for (int d = 0; d < in_window; ++d) {
        path[d] = uint8_t((d * 7 + 3) % kWindowSlots);  // any slots, in any order
        const int p = length - in_window + d;
        t->store_kv(s, past.keys[size_t(p)].data(), past.values[size_t(p)].data(), wk.data(), wv.data(), path[d]);
      }
      std::vector<float> got(q.size());
      const AttendRow row{.query = q.data(), .out = got.data(), .position = length - 1, .committed = length - in_window, .path = path};
      AttendJob split = past.job({&row, 1}, heads, horizon);
      split.window_k = wk.data(), split.window_v = wv.data();
      t->attend(split);
      ASSERT_TRUE(same_bits(expect, got)) << t->name << " length " << length << " heads " << heads << " window " << in_window << " horizon " << horizon;
    }
  }
}

TEST_P(AttendTest, EveryTableGivesScalarBitsForAnySplitBetweenPagesAndWindow) {
  for (const int length : {1, 2, 15, 17, 63, 64, 65, 130, 200})
    for (const int heads : {1, 2, 3, 6, 7, 9}) expect_scalar_bits(shape(), length, heads, 0);
}

// Keys are turned in stretches of the largest power of two that divides their length, here 32 to 512.
TEST(Attend, KeysOfEveryLengthAreTurnedAlike) {
  for (const int dim : {32, 64, 96, 128, 160, 192, 256, 320, 512}) expect_scalar_bits({KvType::q8_0, KvType::q8_0, dim}, 70, 2, 0);
}

TEST_P(AttendTest, SoItDoesWithAHorizon) {
  for (const int length : {1, 2, 63, 64, 65, 130, 200, 600})
    for (const int64_t horizon : {1, 2, 4, 16, 63, 64, 65, 129, 512, 10000}) expect_scalar_bits(shape(), length, 3, horizon);
}

TEST_P(AttendTest, AHorizonAsFarAsThePastHidesNothing) {
  const Past past(kScalarKernels, shape(), 130, 1000);
  const auto q = random_floats(size_t(shape().head_dim), 99);
  for (const int64_t horizon : {130, 131, 1 << 20}) EXPECT_TRUE(same_bits(alone(kScalarKernels, past, q, 1, 129), alone(kScalarKernels, past, q, 1, 129, horizon)));
}

constexpr int kRows = 8;

// Rows of a prompt that attend together, and the same past cut into spans.
void expect_alone_bits(const Kernels& t, const Past& past, int heads, int64_t last, int64_t horizon) {
  const int dim = past.shape.head_dim;
  const int64_t one = heads * dim, state = span_state_floats(dim);
  const auto q = random_floats(size_t(kRows * one), 7);
  std::vector<float> together(q.size()), in_spans(q.size());
  std::vector<AttendRow> rows;
  for (int r = 0; r < kRows; ++r)
    rows.push_back({.query = q.data() + r * one, .out = together.data() + r * one, .position = last - kRows + 1 + r, .committed = last - kRows + 2 + r});
  const AttendJob job = past.job(rows, heads, horizon);
  t.attend(job);
  const SpanRange spans{spans_of(rows[0].position, horizon).first, spans_of(last, horizon).end};
  const int64_t stride = job.queries() * state, rest = spans.end - spans.first - 1;
  std::vector<float> parts(size_t((rest + 1) * stride));
  t.attend_spans(job, spans.first, 1, parts.data(), stride), t.attend_spans(job, spans.first + 1, rest, parts.data() + stride, stride);
  for (int i = 0; i < job.queries(); ++i) {
    const SpanRange seen = spans_of(rows[size_t(i / heads)].position, horizon);
    float* total = parts.data() + (seen.first - spans.first) * stride + i * state;
    for (int64_t span = seen.first + 1; span < seen.end; ++span) t.add_span(dim, total + (span - seen.first) * stride, total);
    t.finish_attend(dim, total, in_spans.data() + i * dim);
  }
  EXPECT_TRUE(same_bits(together, in_spans)) << t.name << " heads " << heads << " last " << last << " horizon " << horizon;
  for (int r = 0; r < kRows; ++r) {
    const std::vector<float> query(q.begin() + r * one, q.begin() + (r + 1) * one), mine(together.begin() + r * one, together.begin() + (r + 1) * one);
    ASSERT_TRUE(same_bits(alone(kScalarKernels, past, query, heads, rows[size_t(r)].position, horizon), mine))
        << t.name << " heads " << heads << " last " << last << " horizon " << horizon << " row " << r;
  }
}

TEST_P(AttendTest, RowsTogetherAndSpansApartGiveTheBitsOfOneRowAlone) {
  const int length = 2 * kSpan + 70;
  for (const Kernels* t : tables()) {
    const Past past(*t, shape(), length, 3000);
    for (const int64_t last : {8, 70, 511, 512, 519, length - 1}) {
      for (const int heads : {1, 3, 7}) expect_alone_bits(*t, past, heads, last, 0);
      for (const int64_t horizon : {1, 6, 64, 65, 130, 512, 515, 700}) expect_alone_bits(*t, past, 2, last, horizon);
    }
  }
}

// A tree of rows in the window: each sees the pages, its ancestors and itself, and of these what its horizon leaves.
TEST_P(AttendTest, RowsOfATreeSeeTheirAncestors) {
  const KvShape s = shape();
  constexpr int kCommitted = 70, kHeads = 2;
  constexpr int kParents[kRows] = {-1, 0, 0, 1, 1, -1, 4, 6};
  const Past past(kScalarKernels, s, kCommitted + kRows, 4000);  // position committed + r holds what row r stores
  const int64_t one = kHeads * s.head_dim;
  const auto q = random_floats(size_t(kRows * one), 8);
  std::vector<std::vector<uint8_t>> paths;
  Aligned wk(s.k_block_bytes()), wv(s.v_block_bytes());
  for (int r = 0; r < kRows; ++r) {
    paths.push_back(kParents[r] < 0 ? std::vector<uint8_t>{} : paths[size_t(kParents[r])]);
    paths.back().push_back(uint8_t(r));
    kScalarKernels.store_kv(s, past.keys[size_t(kCommitted + r)].data(), past.values[size_t(kCommitted + r)].data(), wk.data(), wv.data(), r);
  }
  for (const int64_t horizon : {0, 1, 2, 3, 5, 6, 66, 67, 71}) {
    for (const Kernels* t : tables()) {
      std::vector<float> out(q.size());
      std::vector<AttendRow> rows;
      for (int r = 0; r < kRows; ++r) {
        const auto& path = paths[size_t(r)];
        rows.push_back({.query = q.data() + r * one, .out = out.data() + r * one, .position = kCommitted + int64_t(path.size()) - 1, .committed = kCommitted, .path = path.data()});
      }
      AttendJob job = past.job(rows, kHeads, horizon);
      job.window_k = wk.data(), job.window_v = wv.data();
      t->attend(job);
      for (int r = 0; r < kRows; ++r) {
        Past line(kScalarKernels, s, kCommitted + kRows, 4000);  // the row's ancestors as plain text
        for (size_t d = 0; d < paths[size_t(r)].size(); ++d) {
          const size_t p = kCommitted + d, from = kCommitted + paths[size_t(r)][d];
          kScalarKernels.store_kv(s, past.keys[from].data(), past.values[from].data(), line.k(int64_t(p / 64)), line.v(int64_t(p / 64)), int(p % 64));
        }
        const std::vector<float> query(q.begin() + r * one, q.begin() + (r + 1) * one), mine(out.begin() + r * one, out.begin() + (r + 1) * one);
        ASSERT_TRUE(same_bits(alone(kScalarKernels, line, query, kHeads, rows[size_t(r)].position, horizon), mine)) << t->name << " row " << r << " horizon " << horizon;
      }
    }
  }
}

TEST_P(AttendTest, IsSoftmaxOverTheValuesUpToTheHorizon) {
  const KvShape s = shape();
  const int length = 100;
  const Past past(kScalarKernels, s, length, 5);
  const auto q = random_floats(size_t(s.head_dim), 6);
  for (const int horizon : {length, 1, 35, 36, 37}) {
    const auto out = alone(kScalarKernels, past, q, 1, length - 1, horizon);
    std::vector<double> sum(q.size(), 0.0);
    double total = 0;
    for (int p = length - horizon; p < length; ++p) {
      double dot = 0;
      for (int d = 0; d < s.head_dim; ++d) dot += double(q[size_t(d)]) * past.keys[size_t(p)][size_t(d)];
      const double w = std::exp(double(0.17f) * dot);
      total += w;
      for (int d = 0; d < s.head_dim; ++d) sum[size_t(d)] += w * past.values[size_t(p)][size_t(d)];
    }
    for (int d = 0; d < s.head_dim; ++d) EXPECT_NEAR(out[size_t(d)], sum[size_t(d)] / total, 0.02) << horizon;
  }
}

TEST(CopySlot, MovesTheSameBits) {
  for (const KvType type : {KvType::f16, KvType::q8_0}) {
    const KvShape s{type, type, 64};
    Past a(kScalarKernels, s, 40, 1);
    Aligned k(s.k_block_bytes()), v(s.v_block_bytes());
    for (int p = 0; p < 40; ++p) copy_kv_slot(s, a.k(0), a.v(0), p, k.data(), v.data(), 63 - p);
    Aligned k2(s.k_block_bytes()), v2(s.v_block_bytes());
    for (int p = 0; p < 40; ++p) kScalarKernels.store_kv(s, a.keys[size_t(p)].data(), a.values[size_t(p)].data(), k2.data(), v2.data(), 63 - p);
    EXPECT_EQ(std::memcmp(k.data(), k2.data(), s.k_block_bytes()), 0);
    EXPECT_EQ(std::memcmp(v.data(), v2.data(), s.v_block_bytes()), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttendTest,
                         testing::Values(Case{KvType::f16, KvType::f16, 64}, Case{KvType::f16, KvType::f16, 16}, Case{KvType::f16, KvType::f16, 128},
                                         Case{KvType::q8_0, KvType::q8_0, 64}, Case{KvType::q8_0, KvType::f16, 32}, Case{KvType::f16, KvType::q8_0, 96},
                                         Case{KvType::q8_0, KvType::q8_0, 128}, Case{KvType::q8_0, KvType::f16, 96}));

}  // namespace
}  // namespace outrider::kernels::test
