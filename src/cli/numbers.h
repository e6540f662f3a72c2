#pragma once
// Numbers as people write them in decimal, with nothing before or behind them: no blanks, no 0x10, and no 1e1 where a whole one is wanted.
#include <optional>
#include <string_view>

namespace outrider::cli {

// Infinity where it is too large to be held: beyond −2⁶³ … 2⁶⁴−1, for a whole one.
std::optional<double> parse_number(std::string_view text, bool whole);

}  // namespace outrider::cli
