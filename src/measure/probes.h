#pragma once
// What the machine can do this second, on the kernel table and the threads in use: the yardstick of every figure that is called near or
// far from the limit. Machines change their mind within seconds, so it is asked right before and right after each sample.
#include <vector>

#include "base/clock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "kernels/kernels.h"

namespace outrider {

struct ProbeRates {
  double read_gb_per_s = 0;       // 1e9 bytes, by all threads together
  double int8_gmac_per_s = 0;     // 1e9 multiply-accumulates, by all threads together
};

// True when the two differ by more than 15 % of the smaller in either rate.
bool unsteady(const ProbeRates& before, const ProbeRates& after);

class MachineProbe {
 public:
  static Result<MachineProbe> make(const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock);
  // About 20 ms: reads, then dots.
  ProbeRates run();

 private:
  MachineProbe(const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock, Memory buffer);
  double read_rate();
  double dot_rate();

  const kernels::Kernels* kernels_;
  ThreadPool* pool_;
  const Clock* clock_;
  Memory buffer_;
  int64_t next_ = 0;                       // chunk of the buffer where the next probe goes on, so that no cache has it
  int64_t chunks_ = 1, dot_rounds_ = 1;    // of a probe, from the speed of the one before
};

}  // namespace outrider
