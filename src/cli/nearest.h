#pragma once
// «Did you mean»: the known word that is nearest to a mistyped one.
#include <span>
#include <string>
#include <string_view>

namespace outrider::cli {

// The candidate that the fewest letters put in, left out or changed turn into `word`; "" when all need more than `most`.
std::string nearest(std::string_view word, std::span<const std::string> candidates, size_t most);

}  // namespace outrider::cli
