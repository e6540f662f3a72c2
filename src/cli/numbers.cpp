#include "cli/numbers.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace outrider::cli {

namespace {

template <class Number>
std::optional<double> parse_as(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  return error == std::errc::result_out_of_range ? std::numeric_limits<double>::infinity() : double(number);
}

}  // namespace

std::optional<double> parse_number(std::string_view text, bool whole) {
  const bool minus = text.starts_with('-');
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);  // from_chars takes none
  if (whole) return minus ? parse_as<int64_t>(text) : parse_as<uint64_t>(text);
  const auto x = parse_as<double>(text);
  return x && std::isnan(*x) ? std::nullopt : x;
}

}  // namespace outrider::cli
