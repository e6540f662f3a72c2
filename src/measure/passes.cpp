#include "measure/passes.h"

#include <algorithm>

#include "base/stats.h"

namespace outrider {

namespace {

constexpr int64_t kPrompt = 512;
constexpr int kChunk = 128;

TokenId some_token(const Model& model, int64_t i) { return TokenId((i * 7919) % std::min<int64_t>(5000, model.config().vocabulary)); }

void read_prompt(const Model& model, Pass& pass, Timeline& timeline, int64_t tokens) {
  std::vector<TokenId> text;
  for (int64_t i = 0; i < tokens; ++i) text.push_back(some_token(model, timeline.length() + i));
  for (size_t at = 0; at < text.size(); at += kChunk) {
    const auto part = std::span<const TokenId>(text).subspan(at, std::min<size_t>(kChunk, text.size() - at));
    OUTRIDER_CHECK(timeline.room(int64_t(part.size())));
    pass.clear();
    pass.extend(timeline, part, at + part.size() == text.size() ? 1 : 0);
    model.forward(pass);
    timeline.committed(part);
  }
}

}  // namespace

Result<PassTimes> time_passes(const Model& model, const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock, std::span<const int> sizes, int64_t depth, int rounds) {
  for (const int n : sizes)
    if (n < 1 || n > Timeline::kWindowRows) return Error{"a pass has 1 to 32 rows, not " + std::to_string(n), "give for example -n 1,2,4,8", ErrorKind::usage};
  auto pages = PagePool::make(model.kv_geometry(kernels::KvType::f16, kernels::KvType::f16), int((std::max(depth, kPrompt) + 64) / kernels::kKvBlock) + 2);
  if (!pages) return pages.error();
  auto pass = Pass::make(model.config(), kernels, pool, kChunk, Timeline::kWindowRows);
  if (!pass) return pass.error();
  PassTimes times{.depth = depth};
  std::vector<std::vector<double>> samples(sizes.size());
  {
    Timeline timeline(*pages, depth + 64);
    if (depth > 0) read_prompt(model, *pass, timeline, depth);
    for (int round = 0; round <= rounds; ++round) {
      for (size_t i = 0; i < sizes.size(); ++i) {
        timeline.clear_window();
        for (int r = 0, parent = Timeline::kRoot; r < sizes[i]; ++r) parent = timeline.add_row(some_token(model, round * 31 + r * 17), parent);
        const double start_ms = clock.now_ms();
        pass->clear();
        pass->window(timeline);
        model.forward(*pass);
        if (round > 0) samples[i].push_back(clock.now_ms() - start_ms);
      }
    }
  }
  for (size_t i = 0; i < sizes.size(); ++i) times.rows.push_back({sizes[i], quantile(samples[i], 0.5), quantile(samples[i], 0.25), quantile(samples[i], 0.75)});
  std::vector<double> prefill;
  for (int round = 0; round < 3; ++round) {
    Timeline timeline(*pages, kPrompt);
    const double start_ms = clock.now_ms();
    read_prompt(model, *pass, timeline, kPrompt);
    prefill.push_back(clock.now_ms() - start_ms);
  }
  times.prefill512_ms = quantile(prefill, 0.5);
  return times;
}

}  // namespace outrider
