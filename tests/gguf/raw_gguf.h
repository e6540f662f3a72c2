#pragma once
// Builds GGUF bytes field by field, so that a test can write what no sound writer would.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace outrider::test {

struct RawGguf {
  std::string bytes;

  template <class T>
  RawGguf& number(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  RawGguf& u8(uint8_t v) { return number(v); }
  RawGguf& u32(uint32_t v) { return number(v); }
  RawGguf& u64(uint64_t v) { return number(v); }
  RawGguf& text(std::string_view v) { u64(v.size()); bytes += v; return *this; }
  RawGguf& head(uint64_t tensors, uint64_t keys, uint32_t version = 3) { bytes += "GGUF"; return u32(version).u64(tensors).u64(keys); }
  RawGguf& key_u32(std::string_view name, uint32_t value) { return text(name).u32(4).u32(value); }
  RawGguf& tensor(std::string_view name, std::initializer_list<uint64_t> dims, uint32_t type, uint64_t offset) {
    text(name).u32(uint32_t(dims.size()));
    for (uint64_t d : dims) u64(d);
    return u32(type).u64(offset);
  }
  RawGguf& pad(size_t alignment = 32) {
    while (bytes.size() % alignment) bytes += '\0';
    return *this;
  }
  RawGguf& zeros(size_t n) { bytes.append(n, '\0'); return *this; }
};

}  // namespace outrider::test
