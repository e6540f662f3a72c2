#pragma once
// A GGUF model: one file, or all files of a split one. Opening checks the whole header; nothing of the weights is read or mapped.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gguf/descriptor.h"
#include "gguf/value.h"

namespace outrider {

class GgufFile {
 public:
  // For a split model give the first file, …-00001-of-0000N.gguf; the others are found beside it.
  static Result<GgufFile> open(const std::string& path);

  const std::string& path() const { return shards_.front().path(); }
  size_t shard_count() const { return shards_.size(); }
  uint64_t size_bytes() const;  // of all files together
  uint32_t version() const { return version_; }
  uint32_t alignment() const { return alignment_; }

  // Keys, in the order of the (first) file.
  const std::vector<KeyInfo>& keys() const { return keys_; }
  bool has(std::string_view key) const { return find_key(key) != nullptr; }
  const KeyInfo* find_key(std::string_view key) const;

  // Typed reads. A missing key, another type or a value out of range is an error that names the key. Any integer type serves where an integer
  // is wanted, any number where a float is. Views live as long as this object (moving it keeps them).
  Result<uint64_t> uint(std::string_view key) const;
  Result<int64_t> integer(std::string_view key) const;
  Result<float> number(std::string_view key) const;
  Result<bool> boolean(std::string_view key) const;
  Result<std::string_view> string(std::string_view key) const;
  Result<std::vector<int64_t>> integers(std::string_view key) const;
  Result<std::vector<float>> numbers(std::string_view key) const;
  Result<std::vector<bool>> booleans(std::string_view key) const;
  Result<std::vector<std::string_view>> strings(std::string_view key) const;

  // The same with a value for a missing key; another type is still an error.
  Result<uint64_t> uint_or(std::string_view key, uint64_t missing) const { return has(key) ? uint(key) : Result<uint64_t>(missing); }
  Result<int64_t> integer_or(std::string_view key, int64_t missing) const { return has(key) ? integer(key) : Result<int64_t>(missing); }
  Result<float> number_or(std::string_view key, float missing) const { return has(key) ? number(key) : Result<float>(missing); }
  Result<bool> boolean_or(std::string_view key, bool missing) const { return has(key) ? boolean(key) : Result<bool>(missing); }
  Result<std::string_view> string_or(std::string_view key, std::string_view missing) const {
    return has(key) ? string(key) : Result<std::string_view>(missing);
  }

  // The bytes of a value as they are in the file: of a string without its length, of an array all elements.
  std::span<const std::byte> raw(const KeyInfo& key) const;

  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const TensorInfo* find_tensor(std::string_view name) const;
  Result<const TensorInfo*> tensor(std::string_view name) const;  // missing: an error

  // Fills `out` from `byte_offset` within the tensor. Threads may call it at the same time.
  Result<void> read(const TensorInfo& tensor, uint64_t byte_offset, std::span<std::byte> out) const;
  // The system's cache may drop the tensor.
  void forget(const TensorInfo& tensor) const { shards_[tensor.shard].forget(tensor.offset_bytes, tensor.size_bytes); }

  // An error that names tensor, type and what can be run, when some tensor has a type without a decoder.
  Result<void> check_runnable() const;

 private:
  GgufFile() = default;
  static Result<GgufFile> open_split(const std::string& path, GgufFile first, uint64_t count);
  Result<const KeyInfo*> expect(std::string_view key, std::string_view wanted, bool array) const;
  Result<void> index_tensors();

  std::vector<ReadOnlyFile> shards_;
  uint32_t version_ = 0, alignment_ = 0;
  std::vector<std::byte> header_;
  std::vector<KeyInfo> keys_;
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string, size_t> key_index_, tensor_index_;
};

Error unrunnable_type_error(const std::string& path, const TensorInfo& tensor);

}  // namespace outrider
