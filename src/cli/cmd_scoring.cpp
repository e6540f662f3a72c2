// outrider perplexity, logits: numbers about a model, without an answer.
#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
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

}  // namespace

int cmd_perplexity(Values values) {
  if (!values.given("file")) return report({"no text given", "name a file with -f TEXT", ErrorKind::usage});
  const auto text = read_file(values.text("file"));
  if (!text) return report(text.error());
  auto runtime = load_target(values);
  if (!runtime) return report(runtime.error());
  const Runtime& r = **runtime;
  const auto ids = r.tokenizer->encode(*text, {.parse_special = true, .add_special = false});
  const auto result = perplexity(*r.model, *r.kernels, *r.pool, ids, values.integer("chunk"));
  if (!result) return report(result.error());
  if (!values.flag("json")) return write_out(fmt::format("perplexity {:.4f} over {} tokens of {} chunks\n", result->perplexity, result->scored, result->chunks)) ? 0 : 1;
  return write_out(nlohmann::ordered_json{{"perplexity", result->perplexity}, {"scored", result->scored}, {"chunks", result->chunks}}.dump() + "\n") ? 0 : 1;
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
  std::FILE* file = std::fopen((path + ".part").c_str(), "wb");
  const auto put = [&](const void* data, size_t bytes) -> Result<void> {
    if (file && std::fwrite(data, 1, bytes, file) == bytes) return {};
    return Error{"cannot write " + path, "check the path, the permissions and the free space"};
  };
  const std::string header = npy_header(ids.size(), size_t(r.model->config().vocabulary));
  auto result = put(header.data(), header.size());
  if (result) result = for_each_logits(*r.model, *r.kernels, *r.pool, ids, [&](int64_t, std::span<const float> row) { return put(row.data(), row.size_bytes()); });
  if (file && std::fclose(file) != 0 && result) result = Error{"cannot write " + path, "check the free space"};
  if (result && std::rename((path + ".part").c_str(), path.c_str()) != 0) result = Error{"cannot write " + path, "check the path"};
  if (!result) {
    std::remove((path + ".part").c_str());
    return report(result.error());
  }
  return write_out(nlohmann::ordered_json{{"rows", ids.size()}, {"vocabulary", r.model->config().vocabulary}}.dump() + "\n") ? 0 : 1;
}

}  // namespace outrider::cli
