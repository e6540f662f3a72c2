#include "base/threads.h"

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace outrider {

namespace {

constexpr int kSpins = 40000;  // pauses before a worker sleeps: longer than the gaps between the parts of a step

void pause() { __builtin_ia32_pause(); }

constexpr uint64_t kIndexMask = 0xffffffffu;

}  // namespace

ThreadPool::ThreadPool(int threads, uint32_t jobs_before) : shares_(size_t(std::max(threads, 1))) {
  OUTRIDER_CHECK(threads >= 1);
  for (Share& s : shares_) s.ticket.store(uint64_t(jobs_before) << 32);
  sigset_t all, before;  // workers inherit the mask: signals go to the calling thread, whose reads they are meant to interrupt
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  signal_.fetch_add(1);
  signal_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::take_share(uint64_t epoch, int share) {
  std::atomic<uint64_t>& next = shares_[size_t(share)].ticket;
  uint64_t ticket = next.load(std::memory_order_acquire);
  while (ticket >> 32 == epoch) {
    const int64_t item = int64_t(ticket & kIndexMask);
    // Read before the ticket is taken: if taking succeeds the job is still open and these were its fields. Acquire pairs with the
    // stores in dispatch(): who sees a field of the next job sees that this one is closed as well, and does not get the ticket.
    const int64_t end = items_.load(std::memory_order_acquire) * (share + 1) / size();
    const Call call = call_.load(std::memory_order_acquire);
    void* context = context_.load(std::memory_order_acquire);
    if (item >= end) return;
    if (!next.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
    call(context, item);
    done_.fetch_add(1, std::memory_order_release);
    ticket = next.load(std::memory_order_acquire);
  }
}

void ThreadPool::take_items(uint64_t epoch, int self) {
  for (int i = 0; i < size(); ++i) take_share(epoch, (self + i) % size());
}

void ThreadPool::dispatch(int64_t items, Call call, void* context) {
  OUTRIDER_CHECK(items < int64_t(kIndexMask));
  const uint64_t epoch = ((shares_[0].ticket.load(std::memory_order_relaxed) >> 32) + 1) & kIndexMask;
  for (Share& s : shares_) s.ticket.store(epoch << 32 | kIndexMask, std::memory_order_release);  // closed: late workers of the last job find no item
  items_.store(items, std::memory_order_release);
  call_.store(call, std::memory_order_release);
  context_.store(context, std::memory_order_release);
  done_.store(0, std::memory_order_relaxed);
  for (int t = 0; t < size(); ++t) shares_[size_t(t)].ticket.store(epoch << 32 | uint64_t(items * t / size()), std::memory_order_release);
  signal_.fetch_add(1);
  if (sleepers_.load() > 0) signal_.notify_all();
  take_items(epoch, 0);
  const double start_ms = clock_ ? clock_->now_ms() : 0;
  while (done_.load(std::memory_order_acquire) < items) pause();
  if (clock_) waited_ms_ += clock_->now_ms() - start_ms;
}

void ThreadPool::work(int self) {
  uint32_t seen = signal_.load();
  while (!stop_.load()) {
    take_items(shares_[size_t(self)].ticket.load(std::memory_order_acquire) >> 32, self);
    for (int spin = 0; spin < kSpins && signal_.load(std::memory_order_relaxed) == seen; ++spin) pause();
    if (signal_.load() == seen) {
      sleepers_.fetch_add(1);
      signal_.wait(seen);
      sleepers_.fetch_sub(1);
    }
    seen = signal_.load();
  }
}

namespace {

// Processors granted by a cgroup quota, or a large number when there is none.
double cgroup_cpus() {
  double limit = 1e9;
  if (FILE* f = std::fopen("/sys/fs/cgroup/cpu.max", "r")) {
    char quota[32];
    double period = 0;
    if (std::fscanf(f, "%31s %lf", quota, &period) == 2 && std::strcmp(quota, "max") != 0 && period > 0) limit = std::atof(quota) / period;
    std::fclose(f);
  }
  return limit;
}

}  // namespace

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : int(std::thread::hardware_concurrency());
  count = std::max(1, count);
  const double quota = cgroup_cpus();
  return quota < count ? std::max(1, int(std::floor(quota + 0.01))) : count;
}

}  // namespace outrider
