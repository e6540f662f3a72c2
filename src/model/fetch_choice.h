#pragma once
// How a processor likes its weights fetched is found by trying, on the loaded weights, in a few milliseconds: one core has it twice as
// fast one way, another the other way round. Never seen in a result.
#include <span>

#include "base/clock.h"
#include "base/threads.h"
#include "kernels/kernels.h"

namespace outrider {

// The ways that are tried; the first is the one to beat, by 3 %.
inline constexpr kernels::Fetch kFetches[] = {{6144, 0}, {6144, 2048}, {12288, 2048}, {3072, 0}};

// The fastest for passes over one row and over four. Matrices of floats and very large ones are not tried on; with nothing to try on,
// or where all of it is slow, the first.
kernels::Fetch choose_fetch(std::span<kernels::Matrix* const> matrices, const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock);

}  // namespace outrider
