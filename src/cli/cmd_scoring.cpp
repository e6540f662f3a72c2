// outrider perplexity, logits: numbers about a model, without an answer.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/terminal.h"
#include "measure/scoring.h"

namespace outrider::cli {

namespace {

// The header of a NumPy file holding little-endian float32 rows.
std::string npy_header(size_t rows, size_t columns) {
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string magic("\x93NUMPY\x01\x00", 8);
  magic += char(header.size() & 255);
  magic += char(header.size() >> 8);
  return magic + header;
}

Scoring scoring_of(const Runtime& r, const Values& values) {
  return {*r.model, *r.kernels, *r.pool, kv_type(values.text("cache-type-k")), kv_type(values.text("cache-type-v"))};
}

}  // namespace

int cmd_perplexity(Values values) {
  if (!values.given("file")) return report({"no text given", "name a file with -f TEXT", ErrorKind::usage});
  const auto text = read_file(values.text("file"));
  if (!text) return report(text.error());
  auto runtime = load_target(values);
  if (!runtime) return report(runtime.error());
  const Runtime& r = **runtime;
  const auto ids = r.tokenizer->encode(*text, {.parse_special = true, .add_special = false});
  const auto result = perplexity(scoring_of(r, values), ids, values.integer("chunk"));
  if (!result) return report(result.error());
  if (!values.flag("json")) return print(fmt::format("perplexity {:.4f} over {} tokens of {} chunks\n", result->perplexity, result->scored, result->chunks));
  return print(nlohmann::ordered_json{{"perplexity", result->perplexity}, {"scored", result->scored}, {"chunks", result->chunks}}.dump() + "\n");
}

int cmd_logits(Values values) {
  const auto numbers = parse_numbers(values.text("ids"), "--ids");
  if (!numbers) return report(numbers.error());
  const std::string path = values.text("output");
  if (path.empty()) return report({"no output file given", "name one with -o FILE.npy", ErrorKind::usage});
  auto runtime = load_target(values);
  if (!runtime) return report(runtime.error());
  const Runtime& r = **runtime;
  std::vector<TokenId> ids;
  for (const int64_t id : *numbers) {
    if (id < 0 || id >= r.model->config().vocabulary)
      return report({"token " + std::to_string(id) + " is outside the vocabulary of " + std::to_string(r.model->config().vocabulary), "", ErrorKind::usage});
    ids.push_back(TokenId(id));
  }
  const std::string header = npy_header(ids.size(), size_t(r.model->config().vocabulary));
  const auto written = write_file(path, [&](const Put& put) -> Result<void> {
    if (auto head = put(header); !head) return head;
    return for_each_logits(scoring_of(r, values), ids, [&](int64_t, std::span<const float> row) { return put({reinterpret_cast<const char*>(row.data()), row.size_bytes()}); });
  });
  if (!written) return report(written.error());
  return print(nlohmann::ordered_json{{"rows", ids.size()}, {"vocabulary", r.model->config().vocabulary}}.dump() + "\n");
}

}  // namespace outrider::cli
