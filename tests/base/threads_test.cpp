#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/threads.h"

namespace outrider {
namespace {

TEST(ThreadPool, DoesEveryItemOnceAndWaitsForAll) {
  for (const int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int round = 0; round < 2000; ++round) {
      const int items = round % 17;
      std::vector<std::atomic<int>> done(17);
      pool.run(items, [&](int64_t i) { done[size_t(i)].fetch_add(1); });
      for (int i = 0; i < 17; ++i) ASSERT_EQ(done[size_t(i)].load(), i < items) << threads << " threads, round " << round;
    }
  }
}

TEST(ThreadPool, WakesAfterSleeping) {
  ThreadPool pool(2);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<int> sum{0};
    pool.run(100, [&](int64_t i) { sum += int(i); });
    EXPECT_EQ(sum.load(), 4950);
  }
}

TEST(ThreadPool, CountsTheCallersWaitingWhenAsked) {
  const SteadyClock clock;
  for (const int threads : {1, 2}) {
    ThreadPool pool(threads);
    auto slow_for_others = [caller = std::this_thread::get_id()](int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(std::this_thread::get_id() == caller ? 1 : 5));
    };
    pool.run(4, slow_for_others);
    EXPECT_EQ(pool.waited_ms(), 0);
    pool.time_waiting(&clock);
    for (int i = 0; i < 5; ++i) pool.run(4, slow_for_others);
    EXPECT_EQ(pool.waited_ms() > 0, threads > 1);
    const double waited_ms = pool.waited_ms();
    pool.time_waiting(nullptr);
    pool.run(4, slow_for_others);
    EXPECT_EQ(pool.waited_ms(), waited_ms);
  }
}

TEST(ThreadPool, CountsUsableProcessors) { EXPECT_GE(usable_cpus(), 1); }

}  // namespace
}  // namespace outrider
