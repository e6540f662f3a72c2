#pragma once
// What a model file holds, in a shape that is easy to print or to turn into JSON.
#include <string>
#include <vector>

#include "gguf/file.h"

namespace outrider {

struct FileSummary {
  std::string path, architecture, name;  // architecture and name may be empty
  uint32_t version = 0, alignment = 0;
  size_t shards = 1;
  uint64_t file_bytes = 0, tensor_bytes = 0, parameters = 0;
  double bits_per_weight = 0;

  struct TypeLine { std::string name; size_t tensors = 0; uint64_t bytes = 0, parameters = 0; bool runnable = true; };
  std::vector<TypeLine> types;  // most bytes first

  struct KeyLine { std::string name, type, value; };  // value: shortened, fit for a terminal
  std::vector<KeyLine> keys;
};

FileSummary describe(const GgufFile& file);

// One value as short text: strings quoted and cut, of arrays the length and the first elements.
std::string value_text(const GgufFile& file, const KeyInfo& key, size_t limit = 80);

// "[1536 × 8960]"
std::string dims_text(const TensorInfo& tensor);

}  // namespace outrider
