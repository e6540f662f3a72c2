#include "gguf/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/check.h"

namespace outrider {
namespace {

using Bytes = GgufWriter::Bytes;

void put(Bytes& out, const void* data, size_t n) {
  const size_t old = out.size();
  out.resize(old + n);
  if (n) std::memcpy(out.data() + old, data, n);
}
template <class T>
void put_number(Bytes& out, T value) { put(out, &value, sizeof value); }
void put_string(Bytes& out, std::string_view text) {
  put_number<uint64_t>(out, text.size());
  put(out, text.data(), text.size());
}

uint64_t padded(uint64_t n, uint64_t alignment) { return (n + alignment - 1) / alignment * alignment; }

// A file under a temporary name that is removed unless finish() renames it.
class PendingFile {
 public:
  explicit PendingFile(std::string path) : path_(std::move(path)), pending_(path_ + ".part" + std::to_string(getpid())) {
    descriptor_ = ::open(pending_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor_ < 0) note_error();
  }
  PendingFile(const PendingFile&) = delete;
  ~PendingFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!finished_) ::unlink(pending_.c_str());
  }

  void write(std::span<const std::byte> bytes) {
    while (!error_ && !bytes.empty()) {
      const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return note_error();
      bytes = bytes.subspan(size_t(n)), offset_ += uint64_t(n);
    }
  }
  void pad(uint64_t alignment) {
    const Bytes zeros(size_t(padded(offset_, alignment) - offset_));
    write(zeros);
  }
  Result<void> finish() {
    if (!error_ && (::fsync(descriptor_) != 0 || ::rename(pending_.c_str(), path_.c_str()) != 0)) note_error();
    finished_ = !error_;
    return status();
  }
  Result<void> status() const {
    if (error_) return Error{"cannot write '" + path_ + "': " + std::strerror(error_), error_ == ENOSPC ? "free some space on that disk" : ""};
    return {};
  }

 private:
  void note_error() { error_ = errno ? errno : EIO; }
  std::string path_, pending_;
  int descriptor_ = -1, error_ = 0;
  uint64_t offset_ = 0;
  bool finished_ = false;
};

}  // namespace

void GgufWriter::set(std::string_view key, Bytes typed_value) {
  for (Key& known : keys_)
    if (known.name == key) { known.bytes = std::move(typed_value); return; }
  keys_.push_back({std::string(key), std::move(typed_value)});
}

void GgufWriter::set_scalar(std::string_view key, ValueType type, const void* value, size_t bytes) {
  Bytes out;
  put_number(out, uint32_t(type));
  put(out, value, bytes);
  set(key, std::move(out));
}

void GgufWriter::set_bool(std::string_view key, bool value) {
  const uint8_t byte = value;
  set_scalar(key, ValueType::boolean, &byte, 1);
}

void GgufWriter::set_string(std::string_view key, std::string_view value) {
  Bytes out;
  put_number(out, uint32_t(ValueType::string));
  put_string(out, value);
  set(key, std::move(out));
}

namespace {
Bytes array_head(ValueType element, size_t count) {
  Bytes out;
  put_number(out, uint32_t(ValueType::array)), put_number(out, uint32_t(element)), put_number<uint64_t>(out, count);
  return out;
}
}  // namespace

void GgufWriter::set_strings(std::string_view key, std::span<const std::string> values) {
  Bytes out = array_head(ValueType::string, values.size());
  for (const std::string& value : values) put_string(out, value);
  set(key, std::move(out));
}

void GgufWriter::set_i32s(std::string_view key, std::span<const int32_t> values) {
  Bytes out = array_head(ValueType::i32, values.size());
  put(out, values.data(), values.size_bytes());
  set(key, std::move(out));
}

void GgufWriter::set_f32s(std::string_view key, std::span<const float> values) {
  Bytes out = array_head(ValueType::f32, values.size());
  put(out, values.data(), values.size_bytes());
  set(key, std::move(out));
}

void GgufWriter::set_alignment(uint32_t bytes) {
  OUTRIDER_CHECK(std::has_single_bit(bytes));
  alignment_ = bytes;
  set_u32("general.alignment", bytes);
}

void GgufWriter::copy_keys(const GgufFile& from) {
  for (const KeyInfo& key : from.keys()) {
    if (key.name == "general.alignment" || key.name.starts_with("split.")) continue;
    Bytes out;
    if (key.type == ValueType::array) out = array_head(key.element, key.count);
    else put_number(out, uint32_t(key.type));
    const auto value = from.raw(key);
    if (key.type == ValueType::string) put_number<uint64_t>(out, value.size());
    put(out, value.data(), value.size());
    set(key.name, std::move(out));
  }
}

void GgufWriter::remove(std::string_view key) {
  std::erase_if(keys_, [&](const Key& known) { return known.name == key; });
}

void GgufWriter::add_tensor(std::string_view name, QuantType type, std::vector<uint64_t> dims, Bytes bytes) {
  add_tensor(name, type, std::move(dims), [bytes = std::move(bytes)]() -> Result<Bytes> { return bytes; });
}

void GgufWriter::add_tensor(std::string_view name, QuantType type, std::vector<uint64_t> dims, std::function<Result<Bytes>()> make) {
  OUTRIDER_CHECK(!dims.empty() && dims.size() <= 4);
  TensorInfo info{std::string(name), type, std::move(dims)};
  const auto bytes = bytes_for(type, info.row_elements());
  OUTRIDER_CHECK(bytes);
  info.size_bytes = *bytes * info.rows();
  tensors_.push_back({std::move(info), std::move(make)});
}

Bytes GgufWriter::header() const {
  Bytes out;
  put(out, "GGUF", 4);
  put_number<uint32_t>(out, 3), put_number<uint64_t>(out, tensors_.size()), put_number<uint64_t>(out, keys_.size());
  for (const Key& key : keys_) {
    put_string(out, key.name);
    put(out, key.bytes.data(), key.bytes.size());
  }
  uint64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    put_string(out, tensor.info.name);
    put_number<uint32_t>(out, uint32_t(tensor.info.dims.size()));
    for (uint64_t dim : tensor.info.dims) put_number(out, dim);
    put_number(out, uint32_t(tensor.info.type)), put_number(out, offset);
    offset += padded(tensor.info.size_bytes, alignment_);
  }
  return out;
}

Result<void> GgufWriter::write(const std::string& path) const {
  PendingFile out(path);
  out.write(header());
  out.pad(alignment_);
  for (const Tensor& tensor : tensors_) {
    if (auto status = out.status(); !status) return status;
    auto bytes = tensor.make();
    if (!bytes) return bytes.error();
    OUTRIDER_CHECK(bytes->size() == tensor.info.size_bytes);
    out.write(*bytes);
    out.pad(alignment_);
  }
  return out.finish();
}

}  // namespace outrider
