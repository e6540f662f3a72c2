// outrider bench --sampling: what the choice of a token costs, on logits of the model and on made-up ones of a large vocabulary.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "measure/sampling.h"
#include "measure/scoring.h"

namespace outrider::cli {

namespace {

using nlohmann::ordered_json;

constexpr int kRows = 32;
constexpr int32_t kLargeVocabulary = 151936;
// Prose and code: some of its places are certain, some are open.
constexpr const char* kText =
    "The old lighthouse keeper wrote one line in his book every evening, and on the last page he found a question that somebody else had put there: "
    "how would you reverse a list in Python without copying it? He answered:\n\ndef reverse(items):\n    left, right = 0, len(items) - 1\n    while left < right:\n"
    "        items[left], items[right] = items[right], items[left]\n        left += 1\n        right -= 1\n    return items\n";

// The last rows of the text.
Result<LogitRows> rows_of_model(const Runtime& r) {
  const auto ids = r.tokenizer->encode(kText);
  const int64_t first = std::max<int64_t>(0, int64_t(ids.size()) - kRows);
  LogitRows rows;
  const auto read = for_each_logits({*r.model, *r.kernels, *r.pool}, ids, [&](int64_t i, std::span<const float> logits) -> Result<void> {
    if (i >= first) rows.emplace_back(logits.begin(), logits.end());
    return {};
  });
  if (!read) return read.error();
  return rows;
}

}  // namespace

int bench_sampling(const Values& values) {
  const auto runtime = load_target(values);
  if (!runtime) return report(runtime.error());
  const Runtime& r = **runtime;
  auto own = rows_of_model(r);
  if (!own) return report(own.error());
  const struct { const char* name; LogitRows rows; } kinds[] = {
      {"the model", std::move(*own)}, {"made up, sure", synthetic_rows(kRows, kLargeVocabulary, 18)}, {"made up, flat", synthetic_rows(kRows, kLargeVocabulary, 0)}};
  ordered_json j{{"model", r.model->path()}, {"isa", r.kernels->name}, {"rows", ordered_json::array()}};
  std::string text = fmt::format("ms a row, one thread, {}\n", r.kernels->name);
  for (const auto& kind : kinds) {
    text += fmt::format("\nlogits of {}, vocabulary {}\n", kind.name, kind.rows.front().size());
    for (const SamplingTime& t : time_sampling(*r.kernels, r.clock, kind.rows, values.given("rounds") ? int(values.integer("rounds")) : 15)) {
      text += fmt::format("  {:24}{:8.3f}  [{:.3f}, {:.3f}]\n", t.setting, t.ms, t.q1_ms, t.q3_ms);
      j["rows"].push_back({{"logits", kind.name}, {"vocabulary", kind.rows.front().size()}, {"setting", t.setting}, {"ms", t.ms}, {"q1_ms", t.q1_ms}, {"q3_ms", t.q3_ms}});
    }
  }
  return print(values.flag("json") ? j.dump() + "\n" : text);
}

}  // namespace outrider::cli
