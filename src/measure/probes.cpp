#include "measure/probes.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace outrider {

namespace {

constexpr int64_t kBufferBytes = int64_t(512) << 20;  // far beyond the caches
constexpr int64_t kChunkBytes = int64_t(256) << 10;
constexpr int64_t kChunks = kBufferBytes / kChunkBytes;
constexpr double kReadMs = 16, kDotMs = 3;
constexpr int kDotItems = 16;  // a thread, so that they end together even when one came late

// How many units to do next, so that it takes about target_ms: `done` took `ms`.
int64_t sized(int64_t done, double ms, double target_ms, int64_t most) {
  const double next = double(done) * std::min(target_ms / std::max(ms, 1e-3), 64.0);
  return std::clamp(int64_t(next), int64_t(1), most);
}

}  // namespace

bool unsteady(const ProbeRates& before, const ProbeRates& after) {
  const auto apart = [](double a, double b) { return std::max(a, b) > 1.15 * std::min(a, b); };
  return apart(before.read_gb_per_s, after.read_gb_per_s) || apart(before.int8_gmac_per_s, after.int8_gmac_per_s);
}

MachineProbe::MachineProbe(const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock, Memory buffer)
    : kernels_(&kernels), pool_(&pool), clock_(&clock), buffer_(std::move(buffer)) {}

Result<MachineProbe> MachineProbe::make(const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock) {
  auto buffer = Memory::reserve(size_t(kBufferBytes), "the buffer of the bandwidth probe");
  if (!buffer) return buffer.error();
  // Written once: pages that nobody wrote are all the same zero page, which the caches hold.
  pool.run(kChunks, [&](int64_t i) { std::memset(buffer->data() + i * kChunkBytes, int(i % 255) + 1, size_t(kChunkBytes)); });
  MachineProbe probe(kernels, pool, clock, std::move(*buffer));
  for (int i = 0; i < 6; ++i) probe.run();  // finds the sizes
  return probe;
}

ProbeRates MachineProbe::run() {
  const double read = read_rate();
  return {read, dot_rate()};
}

double MachineProbe::read_rate() {
  std::atomic<uint32_t> sum{0};  // of all chunks, so that no read can be left out
  const int64_t chunks = chunks_, first = next_;
  const double start_ms = clock_->now_ms();
  pool_->run(chunks, [&](int64_t i) { sum += kernels_->probe_read(buffer_.data() + (first + i) % kChunks * kChunkBytes, kChunkBytes); });
  const double ms = clock_->now_ms() - start_ms;
  next_ = (first + chunks) % kChunks;
  chunks_ = sized(chunks, ms, kReadMs, 8 * kChunks);
  return double(chunks * kChunkBytes) / (ms * 1e6);
}

double MachineProbe::dot_rate() {
  alignas(64) std::byte codes[64];
  alignas(64) int32_t a[kernels::kProbeWords];
  for (int i = 0; i < 64; ++i) codes[i] = std::byte(i);
  for (int i = 0; i < kernels::kProbeWords; ++i) a[i] = int32_t(0x6f11a35bu * uint32_t(i + 1));
  const int64_t rounds = dot_rounds_, items = int64_t(kDotItems) * pool_->size();
  std::atomic<uint32_t> sum{0};
  const double start_ms = clock_->now_ms();
  pool_->run(items, [&](int64_t) { sum += kernels_->probe_dots(codes, a, rounds); });
  const double ms = clock_->now_ms() - start_ms;
  dot_rounds_ = sized(rounds, ms, kDotMs, int64_t(1) << 40);
  return double(items * rounds * kernels::kProbeProducts) / (ms * 1e6);
}

}  // namespace outrider
