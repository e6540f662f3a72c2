#pragma once
// CHECK for broken invariants: prints the place and aborts. Never for bad input (that is a Result).
#include <cstdio>
#include <cstdlib>

namespace outrider {
[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "outrider: broken invariant: %s (%s:%d)\n", condition, file, line);
  std::abort();
}
}  // namespace outrider

#define OUTRIDER_CHECK(condition) \
  do { if (!(condition)) ::outrider::check_failed(#condition, __FILE__, __LINE__); } while (false)
