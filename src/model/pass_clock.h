#pragma once
// Where the time of a pass goes and what its matrices stream and multiply. Pass names its parts and writes; measurements read.
//
// Parts follow each other without a gap: what passes between two calls of done() belongs to the part that ends there, so that
// the parts add up to the whole. What the caller waits for its threads at the end of each job is a part of its own.
#include <array>
#include <cstdint>

#include "base/threads.h"

namespace outrider {

enum class PassPart { attention_qkv, attention_output, gate_up, down, head, attention, quantise_norm, embed_rope_store, waiting };
inline constexpr int kPassParts = 9;
inline constexpr std::array<const char*, kPassParts> kPassPartNames = {
    "attention_qkv", "attention_output", "gate_up", "down", "head", "attention", "quantise_norm", "embed_rope_store", "waiting"};

class PassClock {
 public:
  // The pool counts its caller's waiting as long as this lives.
  PassClock(const Clock& clock, ThreadPool& pool) : clock_(clock), pool_(pool) { pool_.time_waiting(&clock_); }
  ~PassClock() { pool_.time_waiting(nullptr); }
  PassClock(const PassClock&) = delete;

  struct Part {
    double ms = 0;
    int64_t bytes = 0;     // of weights, each matrix once
    int64_t products = 0;  // multiply-accumulates of matrices
  };
  const Part& part(PassPart p) const { return parts_[size_t(p)]; }
  const std::array<Part, kPassParts>& parts() const { return parts_; }

  // Before a pass is built: forgets the last one.
  void start() {
    parts_ = {};
    at_ms_ = clock_.now_ms(), waited_ms_ = pool_.waited_ms();
  }
  void done(PassPart p) {
    const double now_ms = clock_.now_ms(), waited_ms = pool_.waited_ms() - waited_ms_;
    parts_[size_t(p)].ms += now_ms - at_ms_ - waited_ms;
    parts_[size_t(PassPart::waiting)].ms += waited_ms;
    at_ms_ = now_ms, waited_ms_ += waited_ms;
  }
  void multiplied(PassPart p, int64_t bytes, int64_t products) { parts_[size_t(p)].bytes += bytes, parts_[size_t(p)].products += products; }

 private:
  const Clock& clock_;
  ThreadPool& pool_;
  std::array<Part, kPassParts> parts_{};
  double at_ms_ = 0, waited_ms_ = 0;
};

}  // namespace outrider
