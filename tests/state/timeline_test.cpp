#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "state/timeline.h"

namespace outrider {
namespace {

PagePool make_pool(int pages) {
  auto pool = PagePool::make({2, 1, {kernels::KvType::f16, kernels::KvType::f16, 16}}, pages);
  EXPECT_TRUE(pool.ok());
  return std::move(*pool);
}

std::vector<int32_t> counting(int n) {
  std::vector<int32_t> v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

void mark(const Timeline& t, int page, int slot, uint16_t value) { reinterpret_cast<uint16_t*>(t.pool().v_block(page, 1, 0))[slot * 16] = value; }
uint16_t marked(const Timeline& t, int page, int slot) { return reinterpret_cast<uint16_t*>(t.pool().v_block(page, 1, 0))[slot * 16]; }

TEST(Timeline, RowsKnowTheirAncestors) {
  PagePool pool = make_pool(4);
  Timeline t(pool, 200);
  ASSERT_TRUE(t.ok());
  const int a = t.add_row(10, Timeline::kRoot), b = t.add_row(11, a), c = t.add_row(12, a), d = t.add_row(13, c);
  EXPECT_EQ(t.row(b).depth, 1);
  EXPECT_EQ(t.row(d).depth, 2);
  EXPECT_EQ(t.position(d), 2);
  EXPECT_EQ(t.row(d).path[0], a);
  EXPECT_EQ(t.row(d).path[1], c);
  EXPECT_EQ(t.row(d).path[2], d);
}

TEST(Timeline, CommitMovesThePathAndForgetsTheRest) {
  PagePool pool = make_pool(4);
  Timeline t(pool, 200);
  ASSERT_TRUE(t.room(63));
  t.committed(counting(63));
  const int a = t.add_row(100, Timeline::kRoot), b = t.add_row(101, a), c = t.add_row(102, a);
  for (const int row : {a, b, c}) mark(t, t.window_page(), row, uint16_t(1000 + row));
  const int32_t path[] = {a, c};
  ASSERT_TRUE(t.commit(path));
  EXPECT_EQ(t.length(), 65);
  EXPECT_EQ(t.rows(), 0);
  EXPECT_EQ(t.tokens()[63], 100);
  EXPECT_EQ(t.tokens()[64], 102);
  EXPECT_EQ(marked(t, t.page(63), 63), 1000 + a);
  EXPECT_EQ(marked(t, t.page(64), 0), 1000 + c);
}

TEST(Timeline, ForksShareUntilOneWrites) {
  PagePool pool = make_pool(8);
  Timeline t(pool, 300);
  ASSERT_TRUE(t.room(100));
  t.committed(counting(100));
  mark(t, t.page(64), 5, 7);
  Timeline f = t.fork(70);
  ASSERT_TRUE(f.ok());
  EXPECT_EQ(f.length(), 70);
  EXPECT_EQ(f.page(0), t.page(0));
  EXPECT_EQ(f.page(64), t.page(64));
  ASSERT_TRUE(f.room(1));
  EXPECT_NE(f.page(64), t.page(64));  // copied on write
  EXPECT_EQ(marked(f, f.page(64), 5), 7);
  mark(f, f.page(64), 5, 9);
  EXPECT_EQ(marked(t, t.page(64), 5), 7);
  EXPECT_EQ(pool.references(t.page(0)), 2);
}

TEST(Timeline, RunsOutWithoutHarm) {
  PagePool pool = make_pool(3);  // one goes to the window
  {
    Timeline t(pool, 1000);
    EXPECT_FALSE(t.room(200));
    EXPECT_TRUE(t.room(128));
    t.committed(counting(128));
    t.add_row(5, Timeline::kRoot);
    const int32_t path[] = {0};
    EXPECT_FALSE(t.commit(path));
    EXPECT_EQ(t.length(), 128);
    Timeline f = t.fork(10);
    EXPECT_FALSE(f.ok());
  }
  EXPECT_EQ(pool.free_pages(), 3);
  Timeline small(pool, 10);
  EXPECT_FALSE(small.room(11));
  EXPECT_TRUE(small.room(10));
}

TEST(Timeline, MovesWithoutLeaking) {
  PagePool pool = make_pool(6);
  {
    Timeline t(pool, 200);
    ASSERT_TRUE(t.room(70));
    t.committed(counting(70));
    Timeline f = t.fork(65);
    t = std::move(f);
    EXPECT_EQ(t.length(), 65);
    Timeline g(std::move(t));
    EXPECT_EQ(g.length(), 65);
    EXPECT_EQ(pool.free_pages(), 6 - 3);
  }
  EXPECT_EQ(pool.free_pages(), 6);
}

}  // namespace
}  // namespace outrider
