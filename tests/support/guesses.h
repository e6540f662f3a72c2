#pragma once
#include <vector>

#include "draft/source.h"

namespace outrider::test {

using Tokens = std::vector<int32_t>;

inline Tokens tokens(const Guesses& guesses) {
  Tokens list;
  for (const Guess& g : guesses.all()) list.push_back(g.token);
  return list;
}

}  // namespace outrider::test
