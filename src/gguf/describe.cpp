#include "gguf/describe.h"

#include <algorithm>
#include <cstdio>

namespace outrider {
namespace {

constexpr size_t kShownElements = 6;

std::string number_text(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", double(value));
  return text;
}

// Elements of an array as texts, at most kShownElements of them.
std::vector<std::string> first_elements(const GgufFile& file, const KeyInfo& key) {
  std::vector<std::string> out;
  const size_t n = size_t(std::min<uint64_t>(key.count, kShownElements));
  if (auto texts = key.element == ValueType::string ? file.strings(key.name) : Error{})
    for (size_t i = 0; i < n; ++i) out.push_back("\"" + printable((*texts)[i], 24) + "\"");
  else if (auto bools = key.element == ValueType::boolean ? file.booleans(key.name) : Error{})
    for (size_t i = 0; i < n; ++i) out.push_back((*bools)[i] ? "true" : "false");
  else if (auto whole = file.integers(key.name))
    for (size_t i = 0; i < n; ++i) out.push_back(std::to_string((*whole)[i]));
  else if (auto numbers = file.numbers(key.name))
    for (size_t i = 0; i < n; ++i) out.push_back(number_text((*numbers)[i]));
  return out;
}

}  // namespace

std::string value_text(const GgufFile& file, const KeyInfo& key, size_t limit) {
  if (key.type == ValueType::array) {
    std::string out = std::to_string(key.count) + " × " + std::string(value_type_name(key.element)) + " [";
    const auto elements = first_elements(file, key);
    for (size_t i = 0; i < elements.size(); ++i) out += (i ? ", " : "") + elements[i];
    return out + (elements.size() < key.count ? ", …]" : "]");
  }
  if (key.type == ValueType::string) return "\"" + printable(*file.string(key.name), limit) + "\"";
  if (key.type == ValueType::boolean) return *file.boolean(key.name) ? "true" : "false";
  if (auto whole = file.integer(key.name)) return std::to_string(*whole);
  if (auto number = file.number(key.name)) return number_text(*number);
  return "not a usable number";
}

std::string dims_text(const TensorInfo& tensor) {
  std::string out = "[";
  for (size_t i = 0; i < tensor.dims.size(); ++i) out += (i ? " × " : "") + std::to_string(tensor.dims[i]);
  return out + "]";
}

FileSummary describe(const GgufFile& file) {
  FileSummary s;
  s.path = file.path(), s.version = file.version(), s.alignment = file.alignment(), s.shards = file.shard_count(), s.file_bytes = file.size_bytes();
  if (auto text = file.string("general.architecture")) s.architecture = printable(*text);
  if (auto text = file.string("general.name")) s.name = printable(*text);
  for (const TensorInfo& tensor : file.tensors()) {
    const TypeTraits& t = traits(tensor.type);
    auto line = std::find_if(s.types.begin(), s.types.end(), [&](const auto& known) { return known.name == t.name; });
    if (line == s.types.end()) line = s.types.insert(s.types.end(), {std::string(t.name), 0, 0, 0, t.runnable});
    line->tensors += 1, line->bytes += tensor.size_bytes, line->parameters += tensor.elements();
    s.tensor_bytes += tensor.size_bytes, s.parameters += tensor.elements();
  }
  if (s.parameters) s.bits_per_weight = 8.0 * double(s.tensor_bytes) / double(s.parameters);
  std::stable_sort(s.types.begin(), s.types.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  for (const KeyInfo& key : file.keys())
    s.keys.push_back({key.name, key.type == ValueType::array ? std::string(value_type_name(key.element)) + "[]" : std::string(value_type_name(key.type)),
                      value_text(file, key)});
  for (auto& key : s.keys) key.name = printable(key.name, 128);
  return s;
}

}  // namespace outrider
