#pragma once
// A token's number in its vocabulary; never negative in a valid sequence.
#include <cstdint>

namespace outrider {
using TokenId = int32_t;
}
