#include "gguf/file.h"

#include <cstdio>
#include <cstring>

#include "base/check.h"
#include "gguf/parse.h"

namespace outrider {
namespace {

constexpr uint64_t kMaxShards = 4096;

struct SplitName { std::string prefix; uint32_t number, count; };

// "<prefix>-00001-of-00003.gguf"
std::optional<SplitName> split_name(const std::string& path) {
  constexpr size_t kTail = sizeof("-00001-of-00003.gguf") - 1;
  if (path.size() <= kTail) return std::nullopt;
  const std::string tail = path.substr(path.size() - kTail);
  uint32_t number = 0, count = 0;
  int used = 0;
  if (std::sscanf(tail.c_str(), "-%5u-of-%5u.gguf%n", &number, &count, &used) != 2 || used != int(kTail)) return std::nullopt;
  return SplitName{path.substr(0, path.size() - kTail), number, count};
}

std::string shard_path(const std::string& prefix, uint64_t number, uint64_t count) {
  char tail[64];
  std::snprintf(tail, sizeof tail, "-%05u-of-%05u.gguf", unsigned(number), unsigned(count));
  return prefix + tail;
}

std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }

}  // namespace

Result<GgufFile> GgufFile::open(const std::string& path) {
  const auto name = split_name(path);
  if (name && name->number > 1 && name->number <= name->count)
    return Error{"'" + path + "' is part " + std::to_string(name->number) + " of a split model", "open '" + shard_path(name->prefix, 1, name->count) + "'"};
  auto descriptor = ReadOnlyFile::open(path);
  if (!descriptor) return descriptor.error();
  auto header = parse_header(*descriptor, 0);
  if (!header) return header.error();
  GgufFile file;
  file.shards_.push_back(std::move(*descriptor));
  file.version_ = header->version, file.alignment_ = header->alignment;
  file.header_ = std::move(header->bytes), file.keys_ = std::move(header->keys), file.tensors_ = std::move(header->tensors);
  for (size_t i = 0; i < file.keys_.size(); ++i) file.key_index_.emplace(file.keys_[i].name, i);

  auto count = file.uint_or("split.count", 0);
  if (!count) return count.error();
  if (*count > 1) return open_split(path, std::move(file), *count);
  if (auto indexed = file.index_tensors(); !indexed) return indexed.error();
  return file;
}

Result<GgufFile> GgufFile::open_split(const std::string& path, GgufFile first, uint64_t count) {
  const std::string who = "'" + path + "': ";
  const auto name = split_name(path);
  if (count > kMaxShards) return Error{who + "key 'split.count' is " + std::to_string(count) + "; at most " + std::to_string(kMaxShards) + " parts are read", ""};
  if (!name || name->number != 1 || name->count != count)
    return Error{who + "key 'split.count' says the model has " + std::to_string(count) + " parts, but the file name does not",
                 "keep the names …-00001-of-" + shard_path("", 1, count).substr(10)};
  for (uint64_t i = 1; i < count; ++i) {
    auto descriptor = ReadOnlyFile::open(shard_path(name->prefix, i + 1, count));
    if (!descriptor) return Error{"split model: " + descriptor.error().message, "all " + std::to_string(count) + " parts must lie in one folder"};
    auto header = parse_header(*descriptor, uint32_t(i));
    if (!header) return header.error();
    GgufFile shard;  // only to read its keys
    shard.shards_.push_back(std::move(*descriptor));
    shard.header_ = std::move(header->bytes), shard.keys_ = std::move(header->keys);
    for (size_t k = 0; k < shard.keys_.size(); ++k) shard.key_index_.emplace(shard.keys_[k].name, k);
    const auto number = shard.uint("split.no"), parts = shard.uint("split.count");
    if (!number) return number.error();
    if (!parts) return parts.error();
    if (*number != i || *parts != count)
      return Error{"'" + shard.path() + "' says it is part " + std::to_string(*number + 1) + " of " + std::to_string(*parts) + ", not part " + std::to_string(i + 1) +
                       " of " + std::to_string(count), "parts of different models were mixed; download them again"};
    for (TensorInfo& tensor : header->tensors) first.tensors_.push_back(std::move(tensor));
    first.shards_.push_back(std::move(shard.shards_.front()));
  }
  if (auto indexed = first.index_tensors(); !indexed) return indexed.error();
  const auto total = first.uint_or("split.tensors.count", first.tensors_.size());
  if (!total) return total.error();
  if (*total != first.tensors_.size())
    return Error{who + "key 'split.tensors.count' is " + std::to_string(*total) + ", but the parts hold " + std::to_string(first.tensors_.size()) + " tensors",
                 "parts of different models were mixed; download them again"};
  return first;
}

Result<void> GgufFile::index_tensors() {
  for (size_t i = 0; i < tensors_.size(); ++i)
    if (!tensor_index_.emplace(tensors_[i].name, i).second)
      return Error{"'" + path() + "': tensor " + quoted(tensors_[i].name) + " is in two parts of the model", "parts of different models were mixed; download them again"};
  return {};
}

uint64_t GgufFile::size_bytes() const {
  uint64_t sum = 0;
  for (const ReadOnlyFile& shard : shards_) sum += shard.size_bytes();
  return sum;
}

const TensorInfo* GgufFile::find_tensor(std::string_view name) const {
  const auto found = tensor_index_.find(std::string(name));
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

Result<const TensorInfo*> GgufFile::tensor(std::string_view name) const {
  if (const TensorInfo* found = find_tensor(name)) return found;
  return Error{"'" + path() + "': tensor " + quoted(name) + " is missing", "the file is incomplete or of another architecture than it says"};
}

Result<void> GgufFile::read(const TensorInfo& tensor, uint64_t byte_offset, std::span<std::byte> out) const {
  OUTRIDER_CHECK(tensor.shard < shards_.size() && byte_offset <= tensor.size_bytes && out.size() <= tensor.size_bytes - byte_offset);
  return shards_[tensor.shard].read(tensor.offset_bytes + byte_offset, out);
}

Error unrunnable_type_error(const std::string& path, const TensorInfo& tensor) {
  return {"'" + path + "': tensor " + quoted(tensor.name) + " has type " + std::string(traits(tensor.type).name) + ", which cannot be run",
          "take a file with types among " + runnable_type_names()};
}

Result<void> GgufFile::check_runnable() const {
  for (const TensorInfo& tensor : tensors_)
    if (!traits(tensor.type).runnable) return unrunnable_type_error(path(), tensor);
  return {};
}

}  // namespace outrider
