#pragma once
// Monotonic time, passed in so that tests can fake it.
#include <chrono>

namespace outrider {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual double now_ms() const = 0;  // since an arbitrary start
};

class SteadyClock final : public Clock {
 public:
  double now_ms() const override {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

class FakeClock final : public Clock {
 public:
  double now_ms() const override { return time_ms; }
  double time_ms = 0;
};

}  // namespace outrider
