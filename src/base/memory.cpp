#include "base/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace outrider {

namespace {

constexpr size_t kHugePage = size_t(2) << 20;

std::string gib(size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", double(bytes) / double(size_t(1) << 30));
  return text;
}

bool read_number(const char* path, uint64_t& value) {
  FILE* f = std::fopen(path, "r");
  if (!f) return false;
  const bool ok = std::fscanf(f, "%" SCNu64, &value) == 1;
  std::fclose(f);
  return ok;
}

}  // namespace

Result<Memory> Memory::reserve(size_t bytes, const char* what) {
  Memory memory;
  if (bytes == 0) return memory;
  const size_t available = available_memory_bytes();
  if (bytes > available)
    return Error{std::string(what) + " needs " + gib(bytes) + ", but only " + gib(available) + " of memory are free",
                 "use a smaller model, a smaller context (-c) or a smaller KV type (--cache-type-k q8_0 --cache-type-v q8_0)", ErrorKind::does_not_fit};
  const size_t mapped = bytes < kHugePage ? (bytes + 4095) / 4096 * 4096 : (bytes + kHugePage - 1) / kHugePage * kHugePage + kHugePage;
  void* p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return Error{std::string("cannot reserve ") + gib(bytes) + " for " + what, "close other programs or use a smaller model", ErrorKind::does_not_fit};
  memory.base_ = static_cast<std::byte*>(p), memory.bytes_ = bytes, memory.mapped_ = mapped;
  if (bytes >= kHugePage) {  // align to a huge page inside the mapping, giving the edges back
    const auto start = reinterpret_cast<uintptr_t>(p), aligned = (start + kHugePage - 1) / kHugePage * kHugePage;
    if (aligned > start) munmap(p, aligned - start);
    memory.base_ = reinterpret_cast<std::byte*>(aligned), memory.mapped_ = mapped - (aligned - start);
    madvise(memory.base_, memory.mapped_, MADV_HUGEPAGE);
  }
  return memory;
}

Memory::~Memory() {
  if (base_) munmap(base_, mapped_);
}

size_t available_memory_bytes() {
  uint64_t available = UINT64_MAX;
  if (FILE* f = std::fopen("/proc/meminfo", "r")) {
    char line[128];
    uint64_t kib = 0;
    while (std::fgets(line, sizeof line, f))
      if (std::sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1) available = kib * 1024;
    std::fclose(f);
  }
  uint64_t limit = 0, used = 0;
  if (read_number("/sys/fs/cgroup/memory.max", limit) && read_number("/sys/fs/cgroup/memory.current", used))
    available = std::min(available, limit > used ? limit - used : 0);
  return size_t(available);
}

size_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return size_t(usage.ru_maxrss) * 1024;
}

}  // namespace outrider
