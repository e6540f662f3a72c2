#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "gguf/describe.h"

namespace outrider::cli {

namespace {

std::string as_json(const GgufFile& file, const FileSummary& s) {
  nlohmann::ordered_json j{{"path", s.path}, {"architecture", s.architecture}, {"name", s.name}, {"version", s.version}, {"alignment", s.alignment}, {"shards", s.shards},
                           {"file_bytes", s.file_bytes}, {"tensor_bytes", s.tensor_bytes}, {"parameters", s.parameters}, {"bits_per_weight", s.bits_per_weight}};
  for (const auto& t : s.types) j["types"].push_back({{"type", t.name}, {"tensors", t.tensors}, {"bytes", t.bytes}, {"parameters", t.parameters}, {"runnable", t.runnable}});
  for (const auto& k : s.keys) j["keys"].push_back({{"name", k.name}, {"type", k.type}, {"value", k.value}});
  for (const TensorInfo& t : file.tensors()) j["tensors"].push_back({{"name", t.name}, {"type", traits(t.type).name}, {"dims", t.dims}, {"offset", t.offset_bytes}, {"bytes", t.size_bytes}});
  return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string as_text(const GgufFile& file, const FileSummary& s, bool keys, bool tensors) {
  std::string out = fmt::format("{}\n  {} «{}», GGUF v{}, {} file{}, {:.2f} GiB\n  {:.3f} G parameters, {:.2f} bits a weight\n", s.path, s.architecture, s.name, s.version, s.shards,
                                s.shards == 1 ? "" : "s", double(s.file_bytes) / double(1 << 30), double(s.parameters) / 1e9, s.bits_per_weight);
  for (const auto& t : s.types) out += fmt::format("  {:8} {:4} tensors {:10.1f} MB{}\n", t.name, t.tensors, double(t.bytes) / 1e6, t.runnable ? "" : "  (cannot be run)");
  if (keys) {
    out += "keys\n";
    for (const auto& k : s.keys) out += fmt::format("  {} ({}) = {}\n", k.name, k.type, k.value);
  }
  if (tensors) {
    out += "tensors\n";
    for (const TensorInfo& t : file.tensors()) out += fmt::format("  {:40} {:8} {}\n", t.name, traits(t.type).name, dims_text(t));
  }
  return out;
}

}  // namespace

int cmd_inspect(Values values) {
  const auto path = model_path(values);
  if (!path) return report(path.error());
  auto file = GgufFile::open(*path);
  if (!file) return report(file.error());
  if (values.flag("template")) {
    const auto text = file->string_or("tokenizer.chat_template", "");
    if (!text) return report(text.error());
    if (text->empty()) return report({*path + " has no chat template", "run and template assume ChatML for it; outrider run --raw continues plain text"});
    return print(std::string(*text) + "\n");
  }
  const FileSummary summary = describe(*file);
  return print(values.flag("json") ? as_json(*file, summary) : as_text(*file, summary, values.flag("keys"), values.flag("tensors")));
}

}  // namespace outrider::cli
