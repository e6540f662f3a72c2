#pragma once
// Makes a GGUF v3 file. Keys and tensors appear in the order they were added.
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/file.h"

namespace outrider {

class GgufWriter {
 public:
  // Setting a key again replaces its value.
  void set_string(std::string_view key, std::string_view value);
  void set_u32(std::string_view key, uint32_t value) { set_scalar(key, ValueType::u32, &value, sizeof value); }
  void set_i32(std::string_view key, int32_t value) { set_scalar(key, ValueType::i32, &value, sizeof value); }
  void set_u64(std::string_view key, uint64_t value) { set_scalar(key, ValueType::u64, &value, sizeof value); }
  void set_f32(std::string_view key, float value) { set_scalar(key, ValueType::f32, &value, sizeof value); }
  void set_u16(std::string_view key, uint16_t value) { set_scalar(key, ValueType::u16, &value, sizeof value); }
  void set_bool(std::string_view key, bool value);
  void set_strings(std::string_view key, std::span<const std::string> values);
  void set_i32s(std::string_view key, std::span<const int32_t> values);
  void set_f32s(std::string_view key, std::span<const float> values);
  void set_alignment(uint32_t bytes);  // a power of two; 32 when not called
  void copy_keys(const GgufFile& from);  // all but those of alignment and splitting
  void remove(std::string_view key);

  using Bytes = std::vector<std::byte>;
  // The tensor's bytes, or a function that makes them when the file is written, so that a large model never lies in memory.
  void add_tensor(std::string_view name, QuantType type, std::vector<uint64_t> dims, Bytes bytes);
  void add_tensor(std::string_view name, QuantType type, std::vector<uint64_t> dims, std::function<Result<Bytes>()> make);

  // Writes beside the path, then renames: a failure leaves no half file and an old file untouched.
  Result<void> write(const std::string& path) const;

 private:
  struct Key { std::string name; Bytes bytes; };  // bytes: type and value, as in the file
  struct Tensor { TensorInfo info; std::function<Result<Bytes>()> make; };
  void set(std::string_view key, Bytes typed_value);
  void set_scalar(std::string_view key, ValueType type, const void* value, size_t bytes);
  Bytes header() const;

  std::vector<Key> keys_;
  std::vector<Tensor> tensors_;
  uint32_t alignment_ = 32;
};

}  // namespace outrider
