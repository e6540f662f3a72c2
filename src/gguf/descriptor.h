#pragma once
// An open file that is read by position, so that threads can share it.
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"

namespace outrider {

class ReadOnlyFile {
 public:
  static Result<ReadOnlyFile> open(const std::string& path);  // regular files only; says why otherwise
  ReadOnlyFile(ReadOnlyFile&& other) noexcept : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}
  ReadOnlyFile& operator=(ReadOnlyFile&& other) noexcept;
  ReadOnlyFile(const ReadOnlyFile&) = delete;
  ~ReadOnlyFile();

  const std::string& path() const { return path_; }
  uint64_t size_bytes() const { return size_; }  // when it was opened

  // Fills `out` from `offset`, or fails: also when the file has become shorter meanwhile.
  Result<void> read(uint64_t offset, std::span<std::byte> out) const;
  // The system need not keep these bytes in its cache: whole pages of them leave it, if nobody else uses them.
  void forget(uint64_t offset, uint64_t bytes) const;

 private:
  ReadOnlyFile(std::string path, int descriptor, uint64_t size) : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace outrider
