#include "measure/scoring.h"

#include <algorithm>

#include "base/math.h"
#include "sample/sampler.h"

namespace outrider {

namespace {

constexpr int kRows = 32;  // in one pass, all with logits

struct Reader {
  PagePool pages;
  Pass pass;
};

Result<Reader> make_reader(const Scoring& s, int64_t tokens) {
  auto pages = PagePool::make(s.model.kv_geometry(s.k_type, s.v_type), pages_for(tokens) + 1);
  if (!pages) return pages.error();
  auto pass = Pass::make(s.model.config(), s.kernels, s.pool, kRows, kRows);
  if (!pass) return pass.error();
  return Reader{std::move(*pages), std::move(*pass)};
}

Result<void> read(const Model& model, Reader& reader, std::span<const TokenId> ids, const std::function<Result<void>(int64_t, std::span<const float>)>& row) {
  Timeline timeline(reader.pages, int64_t(ids.size()));
  for (size_t at = 0; at < ids.size(); at += kRows) {
    const auto part = ids.subspan(at, std::min<size_t>(kRows, ids.size() - at));
    OUTRIDER_CHECK(timeline.room(int64_t(part.size())));
    reader.pass.clear();
    reader.pass.extend(timeline, part, int(part.size()));
    model.forward(reader.pass);
    timeline.committed(part);
    for (size_t i = 0; i < part.size(); ++i)
      if (auto r = row(int64_t(at + i), reader.pass.logits(int(i))); !r) return r;
  }
  return {};
}

}  // namespace

Result<void> for_each_logits(const Scoring& scoring, std::span<const TokenId> ids, const std::function<Result<void>(int64_t, std::span<const float>)>& row) {
  auto reader = make_reader(scoring, int64_t(ids.size()));
  if (!reader) return reader.error();
  return read(scoring.model, *reader, ids, row);
}

Result<Perplexity> perplexity(const Scoring& scoring, std::span<const TokenId> ids, int64_t chunk) {
  const int64_t chunks = int64_t(ids.size()) / chunk;
  if (chunks == 0)
    return Error{"the text has " + std::to_string(ids.size()) + " tokens, less than one chunk of " + std::to_string(chunk), "give a longer text or a smaller --chunk", ErrorKind::usage};
  auto reader = make_reader(scoring, chunk);
  if (!reader) return reader.error();
  Perplexity result{.chunks = chunks};
  double total = 0;
  for (int64_t c = 0; c < chunks; ++c) {
    const auto part = ids.subspan(size_t(c * chunk), size_t(chunk));
    const auto score = [&](int64_t i, std::span<const float> logits) -> Result<void> {
      if (i < chunk / 2 || i >= chunk - 1) return {};
      total -= log_probability(scoring.kernels, logits, part[size_t(i + 1)]);
      ++result.scored;
      return {};
    };
    if (auto r = read(scoring.model, *reader, part, score); !r) return r.error();
  }
  result.perplexity = math::exp(total / double(result.scored));
  return result;
}

}  // namespace outrider
