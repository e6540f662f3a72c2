#pragma once
// The same model with its matrices in another block format.
#include <string>

#include "gguf/file.h"

namespace outrider {

// Every tensor of two or more dimensions whose rows fill whole blocks of `type` is decoded and encoded again; the others, and all keys, are copied.
// Holds one tensor in memory at a time. «general.file_type» is dropped, since it no longer says what is true.
Result<void> reencode(const GgufFile& from, const std::string& path, QuantType type);

}  // namespace outrider
