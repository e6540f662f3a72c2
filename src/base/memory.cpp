#include "base/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string_view>

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

namespace {

// Σ of the numbers of lines «name number» of one of the system's tables; 0 when there is no such file or line.
uint64_t sum_of_lines(const char* path, std::initializer_list<std::string_view> names) {
  uint64_t sum = 0;
  if (FILE* f = std::fopen(path, "r")) {
    char line[128], name[64];
    uint64_t value = 0;
    while (std::fgets(line, sizeof line, f))
      if (std::sscanf(line, "%63s %" SCNu64, name, &value) == 2 && std::find(names.begin(), names.end(), name) != names.end()) sum += value;
    std::fclose(f);
  }
  return sum;
}

}  // namespace

size_t available_memory_bytes() {
  const uint64_t kib = sum_of_lines("/proc/meminfo", {"MemAvailable:"});
  uint64_t available = kib ? kib * 1024 : UINT64_MAX;
  uint64_t limit = 0, used = 0;
  if (read_number("/sys/fs/cgroup/memory.max", limit) && read_number("/sys/fs/cgroup/memory.current", used)) {
    // Files in the cache are counted as used, a model that was read before among them, but give way.
    used -= std::min(used, sum_of_lines("/sys/fs/cgroup/memory.stat", {"active_file", "inactive_file"}));
    available = std::min(available, limit > used ? limit - used : 0);
  }
  return size_t(available);
}

size_t resident_bytes() { return size_t(sum_of_lines("/proc/self/status", {"VmRSS:"})) * 1024; }

size_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return size_t(usage.ru_maxrss) * 1024;
}

}  // namespace outrider
