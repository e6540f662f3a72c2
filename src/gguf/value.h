#pragma once
// The typed values that GGUF metadata holds.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "quant/type.h"

namespace outrider {

enum class ValueType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
inline constexpr uint32_t kValueTypes = 13;

std::string_view value_type_name(ValueType type);
size_t value_type_bytes(ValueType type);  // 0 for string and array

// One key. The payload stays in the header's bytes: `offset` is where it starts (for an array: where its first element starts).
struct KeyInfo {
  std::string name;
  ValueType type;
  ValueType element = ValueType::u8;  // arrays only
  uint64_t count = 1;                 // elements of an array
  size_t offset = 0;
};

struct TensorInfo {
  std::string name;
  QuantType type;
  std::vector<uint64_t> dims;  // dims[0] is contiguous: input features of a matrix
  uint32_t shard = 0;          // which file of a split model
  uint64_t offset_bytes = 0;   // from the start of that file
  uint64_t size_bytes = 0;

  uint64_t row_elements() const { return dims[0]; }
  uint64_t rows() const {
    uint64_t n = 1;
    for (size_t i = 1; i < dims.size(); ++i) n *= dims[i];
    return n;
  }
  uint64_t elements() const { return row_elements() * rows(); }
};

// Text from a file, made fit for an error message: control characters and invalid bytes escaped, long text cut.
std::string printable(std::string_view text, size_t limit = 64);

}  // namespace outrider
