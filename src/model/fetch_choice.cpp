#include "model/fetch_choice.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace outrider {

namespace {

constexpr int64_t kRunBytes = 12 << 20, kItemBytes = 48 << 10;  // of weights: of one run, of one item of the pool
constexpr int kRuns = 4;                                         // of each way and number of columns; the fastest counts
constexpr int kColumns[] = {1, 4};
constexpr int64_t kMostRows = 1 << 16;
constexpr double kBetter = 0.97;
constexpr double kMostMs = 40;  // what is so slow is not waiting for memory

// Walks through the weights, so that no run finds in a cache what another has read.
class Trial {
 public:
  Trial(std::vector<kernels::Matrix> matrices, const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock)
      : matrices_(std::move(matrices)), kernels_(kernels), pool_(pool), clock_(clock) {
    int64_t columns = 0, rows = 0;
    for (const kernels::Matrix& m : matrices_) columns = std::max(columns, m.layout.k_padded), rows = std::max(rows, m.layout.rows);
    panels_.resize(size_t(kernels::Activations::words(kColumns[1], columns)) + 16);
    out_.resize(size_t(rows * kColumns[1]));
  }

  // Milliseconds for a MiB.
  double run(kernels::Fetch fetch, int columns) {
    const double start_ms = clock_.now_ms();
    int64_t bytes = 0;
    for (; bytes < kRunBytes; next_ = (next_ + 1) % matrices_.size()) {
      kernels::Matrix& m = matrices_[next_];
      m.fetch = fetch;
      multiply(m, columns);
      bytes += m.layout.bytes();
    }
    return (clock_.now_ms() - start_ms) / double(bytes) * 0x1p20;
  }

 private:
  void multiply(const kernels::Matrix& m, int columns) {
    void* aligned = panels_.data();
    size_t space = panels_.size() * sizeof(int32_t);
    std::align(64, 64, aligned, space);
    const kernels::Activations a{.columns = columns, .k = m.layout.k_padded, .panels = static_cast<int32_t*>(aligned)};
    const int64_t tiles = m.layout.tiles(), step = std::max<int64_t>(1, kItemBytes / m.layout.tile_bytes());
    pool_.run((tiles + step - 1) / step, [&](int64_t item) {
      kernels_.multiply(m, a, item * step, std::min(tiles, (item + 1) * step), {.values = out_.data(), .stride = m.layout.rows});
    });
  }

  std::vector<kernels::Matrix> matrices_;
  const kernels::Kernels& kernels_;
  ThreadPool& pool_;
  const Clock& clock_;
  size_t next_ = 0;
  std::vector<int32_t> panels_;  // zeros
  std::vector<float> out_;
};

}  // namespace

kernels::Fetch choose_fetch(std::span<kernels::Matrix* const> matrices, const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock) {
  std::vector<kernels::Matrix> tried;
  for (const kernels::Matrix* m : matrices)
    if (!m->layout.is_float() && m->layout.rows <= kMostRows) tried.push_back(*m);
  if (tried.empty()) return kFetches[0];
  Trial trial(std::move(tried), kernels, pool, clock);
  constexpr size_t kWays = std::size(kFetches), kSizes = std::size(kColumns);
  std::array<std::array<double, kSizes>, kWays> best;
  for (auto& of : best) of.fill(1e300);
  const double start_ms = clock.now_ms();
  for (int i = 0; i < kRuns; ++i)
    for (size_t s = 0; s < kSizes; ++s)
      for (size_t w = 0; w < kWays; ++w) {
        if (clock.now_ms() - start_ms > kMostMs) return kFetches[0];
        best[w][s] = std::min(best[w][s], trial.run(kFetches[w], kColumns[s]));
      }
  size_t chosen = 0;
  const auto sum = [&](size_t w) { return best[w][0] + best[w][1]; };
  for (size_t w = 1; w < kWays; ++w)
    if (sum(w) < kBetter * sum(0) && (chosen == 0 || sum(w) < sum(chosen))) chosen = w;
  return kFetches[chosen];
}

}  // namespace outrider
