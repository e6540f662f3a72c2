#pragma once
// Large zeroed memory, in huge pages where the kernel grants them, returned to the system on destruction.
#include <cstddef>
#include <utility>

#include "base/result.h"

namespace outrider {

class Memory {
 public:
  Memory() = default;
  // `what` names the owner in the error. Pages are touched as they are used.
  static Result<Memory> reserve(size_t bytes, const char* what);
  Memory(Memory&& other) noexcept : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)), mapped_(std::exchange(other.mapped_, 0)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(base_, other.base_), std::swap(bytes_, other.bytes_), std::swap(mapped_, other.mapped_);
    return *this;
  }
  ~Memory();

  std::byte* data() const { return base_; }
  size_t size() const { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  size_t bytes_ = 0, mapped_ = 0;
};

// Bytes this process may still take: free and reclaimable memory of the machine, cut by the cgroup's limit.
size_t available_memory_bytes();
// Resident size of this process now; 0 where the system does not say.
size_t resident_bytes();
// Peak resident size of this process so far.
size_t peak_resident_bytes();

}  // namespace outrider
