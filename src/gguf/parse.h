#pragma once
// The header of one GGUF file: keys and tensor infos, checked against the file they came from. Inside gguf/ only; users take GgufFile.
#include <memory>

#include "gguf/descriptor.h"
#include "gguf/value.h"

namespace outrider {

// Limits that no sound model comes near; they keep a hostile header from taking memory or time.
inline constexpr uint64_t kMaxHeaderBytes = 96u << 20;
inline constexpr uint64_t kMaxKeys = 1u << 16;
inline constexpr uint64_t kMaxTensors = 1u << 17;
inline constexpr uint64_t kMaxAlignment = 1u << 20;
inline constexpr size_t kMaxNameBytes = 256;

struct Header {
  uint32_t version = 0;
  uint32_t alignment = 32;
  uint64_t data_offset = 0;       // where the tensors' bytes begin
  std::vector<std::byte> bytes;   // the start of the file, at least up to the end of the keys
  std::vector<KeyInfo> keys;
  std::vector<TensorInfo> tensors;  // offset_bytes already counted from the start of the file
};

Result<Header> parse_header(const ReadOnlyFile& file, uint32_t shard);

}  // namespace outrider
