#include "measure/passes.h"

#include <algorithm>

#include "base/noise.h"
#include "base/stats.h"

namespace outrider {

namespace {

constexpr int64_t kPrompt = 512;
constexpr int kChunk = 128;

TokenId some_token(const Model& model, int64_t i) { return TokenId((i * 7919) % std::min<int64_t>(5000, model.config().vocabulary)); }

Result<double> read_prompt_ms(const PassSetup& s) {
  auto pages = PagePool::make(s.model.kv_geometry(s.k_type, s.v_type), pages_for(kPrompt) + 1);
  if (!pages) return pages.error();
  auto pass = Pass::make(s.model.config(), s.kernels, s.pool, kChunk, 1);
  if (!pass) return pass.error();
  std::vector<TokenId> text;
  for (int64_t i = 0; i < kPrompt; ++i) text.push_back(some_token(s.model, i));
  std::vector<double> samples;
  for (int round = 0; round < 3; ++round) {
    Timeline timeline(*pages, kPrompt);
    const double start_ms = s.clock.now_ms();
    for (size_t at = 0; at < text.size(); at += kChunk) {
      const auto part = std::span<const TokenId>(text).subspan(at, kChunk);
      OUTRIDER_CHECK(timeline.room(kChunk));
      pass->clear();
      pass->extend(timeline, part, at + kChunk == text.size() ? 1 : 0);
      s.model.forward(*pass);
      timeline.committed(part);
    }
    samples.push_back(s.clock.now_ms() - start_ms);
  }
  return median(samples);
}

}  // namespace

PassBench::PassBench(const PassSetup& setup, PagePool pages, Pass pass)
    : setup_(setup), pages_(std::move(pages)), pass_(std::move(pass)), timeline_(pages_, setup.depth + Timeline::kWindowRows) {}

Result<std::unique_ptr<PassBench>> PassBench::make(const PassSetup& s) {
  const Config& c = s.model.config();
  const KvGeometry geometry = s.model.kv_geometry(s.k_type, s.v_type);
  if ((s.k_type == kernels::KvType::q8_0 || s.v_type == kernels::KvType::q8_0) && c.head_dim % 32)
    return Error{"KV type q8_0 needs heads of a multiple of 32 values; this model has " + std::to_string(c.head_dim), "use --cache-type-k f16 --cache-type-v f16", ErrorKind::usage};
  auto pages = PagePool::make(geometry, pages_for(s.depth) + 1);
  if (!pages) return pages.error();
  auto pass = Pass::make(c, s.kernels, s.pool, Timeline::kWindowRows, Timeline::kWindowRows);
  if (!pass) return pass.error();
  std::unique_ptr<PassBench> bench(new PassBench(s, std::move(*pages), std::move(*pass)));
  bench->fill();
  return bench;
}

void PassBench::fill() {
  if (setup_.depth == 0) return;
  OUTRIDER_CHECK(timeline_.room(setup_.depth));
  const KvGeometry& g = pages_.geometry();
  const int heads = g.kv_heads, dim = g.shape.head_dim;
  setup_.pool.run(setup_.depth, [&](int64_t position) {
    float key[kernels::kMaxHeadDim], value[kernels::kMaxHeadDim];
    for (int i = 0; i < g.layers * heads; ++i) {
      const PositionNoise noise(1, uint64_t(i), position);
      for (int d = 0; d < dim; ++d) key[d] = float(noise.uniform(d)) * 2 - 1, value[d] = float(noise.uniform(d + dim)) * 2 - 1;
      const int page = timeline_.page(position), slot = int(position % kernels::kKvBlock);
      setup_.kernels.store_kv(g.shape, key, value, pages_.k_block(page, i / heads, i % heads), pages_.v_block(page, i / heads, i % heads), slot);
    }
  });
  const std::vector<TokenId> tokens(size_t(setup_.depth), some_token(setup_.model, 1));
  timeline_.committed(tokens);
}

double PassBench::run_ms(int n, PassClock* parts) {
  timeline_.clear_window();
  for (int r = 0, parent = Timeline::kRoot; r < n; ++r) parent = timeline_.add_row(some_token(setup_.model, runs_ * 31 + r * 17), parent);
  ++runs_;
  pass_.watch(parts);
  const double start_ms = setup_.clock.now_ms();
  if (parts) parts->start();
  pass_.clear();
  pass_.window(timeline_);
  setup_.model.forward(pass_);
  const double ms = setup_.clock.now_ms() - start_ms;
  pass_.watch(nullptr);
  return ms;
}

Result<void> check_sizes(std::span<const int> sizes) {
  for (const int n : sizes)
    if (n < 1 || n > Timeline::kWindowRows) return Error{"a pass has 1 to 32 rows, not " + std::to_string(n), "give for example -n 1,2,4,8", ErrorKind::usage};
  return {};
}

Result<PassTimes> time_passes(const PassSetup& setup, std::span<const int> sizes, int rounds) {
  if (auto right = check_sizes(sizes); !right) return right.error();
  auto bench = PassBench::make(setup);
  if (!bench) return bench.error();
  PassTimes times{.depth = setup.depth};
  std::vector<std::vector<double>> samples(sizes.size());
  for (int round = 0; round <= rounds; ++round)
    for (size_t i = 0; i < sizes.size(); ++i)
      if (const double ms = (*bench)->run_ms(sizes[i]); round > 0) samples[i].push_back(ms);
  for (size_t i = 0; i < sizes.size(); ++i) times.rows.push_back({sizes[i], quantile(samples[i], 0.5), quantile(samples[i], 0.25), quantile(samples[i], 0.75)});
  const auto prefill_ms = read_prompt_ms(setup);
  if (!prefill_ms) return prefill_ms.error();
  times.prefill512_ms = *prefill_ms;
  return times;
}

}  // namespace outrider
