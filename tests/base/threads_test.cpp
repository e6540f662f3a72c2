#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/threads.h"

namespace outrider {
namespace {

TEST(ThreadPool, DoesEveryItemOnceAndWaitsForAll) {
  for (int threads = 1; threads <= 9; ++threads) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int round = 0; round < 1000; ++round) {
      const int items = round % 23;  // fewer than threads and more
      std::vector<std::atomic<int>> done(23);
      pool.run(items, [&](int64_t i) { done[size_t(i)].fetch_add(1); });
      for (int i = 0; i < 23; ++i) ASSERT_EQ(done[size_t(i)].load(), i < items) << threads << " threads, round " << round;
    }
  }
}

// The memory is plain: a sanitizer sees whether a job's writes are visible to the next job and to the caller. A worker that takes an
// item of a job that is over writes to the wrong vector, or to one that is no more.
TEST(ThreadPool, KeepsJobsInQuickSuccessionApart) {
  for (int threads = 2; threads <= 9; ++threads) {
    ThreadPool pool(threads);
    for (int round = 0; round < 500; ++round) {
      const int first = 2 + round * 7 % 31, second = 2 + round * 13 % 37;
      std::vector<int> from(static_cast<size_t>(first)), to(static_cast<size_t>(second));
      pool.run(first, [&](int64_t i) { from[size_t(i)] += round + int(i); });
      pool.run(second, [&](int64_t i) { to[size_t(i)] += 1 + from[size_t(first - 1 - int(i) % first)]; });
      for (int i = 0; i < first; ++i) ASSERT_EQ(from[size_t(i)], round + i) << threads << " threads";
      for (int i = 0; i < second; ++i) ASSERT_EQ(to[size_t(i)], 1 + round + first - 1 - i % first) << threads << " threads";
    }
  }
}

TEST(ThreadPool, OthersTakeTheShareOfOneWhoIsHeldUp) {
  for (const int threads : {2, 3, 9}) {
    ThreadPool pool(threads);
    for (const int held : {0, 17, 39}) {  // its thread does nothing else of this job until all the rest is done
      std::atomic<int> others{0};
      bool in_time = false;
      pool.run(40, [&](int64_t i) {
        if (i != held) {
          others.fetch_add(1);
          return;
        }
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (others.load() < 39 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
        in_time = others.load() == 39;
      });
      EXPECT_TRUE(in_time) << threads << " threads, item " << held;
    }
  }
}

// Workers that took long to come, or that sleep on their way, do no harm to later jobs.
TEST(ThreadPool, BearsThreadsThatAreLate) {
  for (const int threads : {2, 4, 7}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 200; ++round) {
      const int items = 2 + round % 29;
      std::vector<int> done(static_cast<size_t>(items));
      pool.run(items, [&](int64_t i) {
        if ((round + i) % 11 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50 * (round % 5)));
        ++done[size_t(i)];
      });
      for (int i = 0; i < items; ++i) ASSERT_EQ(done[size_t(i)], 1) << threads << " threads, round " << round;
    }
  }
}

TEST(ThreadPool, NumbersOfJobsMayWrap) {
  for (int threads = 2; threads <= 9; ++threads) {
    ThreadPool pool(threads, 0xfffffff0u);
    for (int round = 0; round < 100; ++round) {
      const int items = 2 + round % 19;
      std::vector<int> done(static_cast<size_t>(items));
      pool.run(items, [&](int64_t i) { ++done[size_t(i)]; });
      for (int i = 0; i < items; ++i) ASSERT_EQ(done[size_t(i)], 1) << threads << " threads, round " << round;
    }
  }
}

TEST(ThreadPool, MayEndAtAnyTime) {
  for (int threads = 1; threads <= 9; ++threads)
    for (int jobs = 0; jobs < 3; ++jobs)
      for (int round = 0; round < 10; ++round) {
        std::vector<int> done(12);
        {
          ThreadPool pool(threads);
          for (int job = 0; job < jobs; ++job) pool.run(12, [&](int64_t i) { ++done[size_t(i)]; });
          if (round == 9) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // workers sleep by then
        }
        for (const int n : done) ASSERT_EQ(n, jobs) << threads << " threads";
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
