#pragma once
// How byte-level BPE vocabularies write bytes: printable ones as themselves, the other 68 as U+0100, U+0101, … in ascending order.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace outrider {

const std::array<uint16_t, 256>& byte_level_code_points();  // index: byte

std::string byte_level_text(std::string_view bytes);

// The inverse; nothing when some character stands for no byte.
std::optional<std::string> bytes_of_byte_level(std::string_view text);

}  // namespace outrider
