#pragma once
// The tensor types of GGUF by their ids in the file, with the size of one block of each.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace outrider {

enum class QuantType : uint32_t {
  f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q5_0 = 6, q5_1 = 7, q8_0 = 8, q8_1 = 9,
  q2_k = 10, q3_k = 11, q4_k = 12, q5_k = 13, q6_k = 14, q8_k = 15,
  iq2_xxs = 16, iq2_xs = 17, iq3_xxs = 18, iq1_s = 19, iq4_nl = 20, iq3_s = 21, iq2_s = 22, iq4_xs = 23,
  i8 = 24, i16 = 25, i32 = 26, i64 = 27, f64 = 28, iq1_m = 29, bf16 = 30,
  tq1_0 = 34, tq2_0 = 35, mxfp4 = 39, nvfp4 = 40,
};

struct TypeTraits {
  QuantType type;
  std::string_view name;      // as people write it: "Q4_K"
  uint32_t block_elements;    // values in one block; a row is a whole number of blocks
  uint32_t block_bytes;
  bool runnable;              // decode() exists, so tensors of this type can be used in a forward pass
};

// nullptr for ids that are unknown or were withdrawn from the format.
const TypeTraits* find_type(uint32_t id);
const TypeTraits* find_type(std::string_view name);  // case does not matter

const TypeTraits& traits(QuantType type);
std::span<const QuantType> runnable_types();
std::string runnable_type_names();  // "F32, F16, …" for error messages

// Bytes of `elements` consecutive values, or nothing when they do not fill whole blocks.
std::optional<size_t> bytes_for(QuantType type, size_t elements);

}  // namespace outrider
