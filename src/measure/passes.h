#pragma once
// How long one pass of the target takes: over n new rows of one sequence with logits for all, and over a 512-token prompt.
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "model/model.h"
#include "model/pass.h"

namespace outrider {

struct PassSetup {
  const Model& model;
  const kernels::Kernels& kernels;
  ThreadPool& pool;
  const Clock& clock;
  int64_t depth = 0;  // tokens of the sequence before the rows
  kernels::KvType k_type = kernels::KvType::f16, v_type = kernels::KvType::f16;
};

// One sequence of depth tokens and the pass that goes over n rows behind them, again and again. Its keys and values are noise of the
// ordinary size, not those of a text: a pass takes the same time with either, and a long text would take minutes to read.
class PassBench {
 public:
  static Result<std::unique_ptr<PassBench>> make(const PassSetup& setup);
  // Milliseconds of building and running a pass over n ≤ 32 rows. Other tokens each time.
  double run_ms(int n, PassClock* parts = nullptr);

 private:
  PassBench(const PassSetup& setup, PagePool pages, Pass pass);
  void fill();

  PassSetup setup_;
  PagePool pages_;
  Pass pass_;
  Timeline timeline_;
  int64_t runs_ = 0;
};

// Error when one is not 1 to 32.
Result<void> check_sizes(std::span<const int> sizes);

struct PassTimes {
  struct Row {
    int n;
    double ms, q1_ms, q3_ms;  // median and quartiles over the rounds
  };
  std::vector<Row> rows;
  double prefill512_ms = 0;  // median of three
  int64_t depth = 0;
};

// Every round runs each n once, so that all of them see the same moods of the machine. The first round is not counted.
Result<PassTimes> time_passes(const PassSetup& setup, std::span<const int> sizes, int rounds);

}  // namespace outrider
