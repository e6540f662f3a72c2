#pragma once
// A fixed set of threads that share out numbered items. Results never depend on who did which item (law 1). Each thread has a run of
// neighbouring items, so that it reads memory in order; who is done with his own takes from the others: on a noisy machine a thread
// that was put aside does not hold up the rest.
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace outrider {

class ThreadPool {
 public:
  // `threads` ≥ 1 counts the caller. Workers spin for a while after each job, then sleep. Jobs are numbered on from `jobs_before`,
  // modulo 2³²; tests start near the end.
  explicit ThreadPool(int threads, uint32_t jobs_before = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return int(shares_.size()); }

  // From now on, with a clock, adds up how long the caller waits for the others at the end of its jobs; null: stops.
  void time_waiting(const Clock* clock) { clock_ = clock; }
  double waited_ms() const { return waited_ms_; }

  // Calls fn(item) for every item in [0, items); returns when all are done. Not reentrant; one caller at a time.
  template <class Fn>
  void run(int64_t items, Fn&& fn) {
    if (items <= 0) return;
    if (workers_.empty() || items == 1) {
      for (int64_t i = 0; i < items; ++i) fn(i);
      return;
    }
    dispatch(items, [](void* context, int64_t item) { (*static_cast<std::remove_reference_t<Fn>*>(context))(item); }, &fn);
  }

 private:
  using Call = void (*)(void* context, int64_t item);
  void dispatch(int64_t items, Call call, void* context);
  void work(int self);
  void take_items(uint64_t epoch, int self);
  void take_share(uint64_t epoch, int share);

  // A share's ticket is (job number << 32 | next item). A worker that comes late finds another job number and takes nothing,
  // so the caller waits only for items that were taken.
  struct alignas(64) Share {
    std::atomic<uint64_t> ticket{0};
  };
  std::vector<Share> shares_;  // one a thread, the caller's first
  std::atomic<int64_t> done_{0};
  std::atomic<int64_t> items_{0};
  std::atomic<Call> call_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<uint32_t> signal_{0};  // changes with every job; sleepers wait on it
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stop_{false};
  const Clock* clock_ = nullptr;
  double waited_ms_ = 0;
  std::vector<std::thread> workers_;
};

// Processors this process may use: the affinity mask, cut by a cgroup CPU quota.
int usable_cpus();

}  // namespace outrider
