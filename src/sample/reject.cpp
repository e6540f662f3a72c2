#include "sample/reject.h"

#include <algorithm>

namespace outrider {

bool token_stands(Distribution p, Distribution drawn_from, int32_t token, double uniform) {
  const double q = drawn_from.empty() ? 1 : double(probability_of(drawn_from, token));
  return uniform * q < double(probability_of(p, token));
}

int32_t token_instead(std::span<TokenProbability> p, Distribution drawn_from, int32_t token, double uniform) {
  size_t at = 0;
  for (TokenProbability& t : p) {
    while (at < drawn_from.size() && drawn_from[at].token < t.token) ++at;
    const bool listed = at < drawn_from.size() && drawn_from[at].token == t.token;
    const float q = drawn_from.empty() ? float(t.token == token) : listed ? drawn_from[at].probability : 0;
    t.probability = std::max(0.0f, t.probability - q);
  }
  const int32_t other = draw(p, uniform);
  return other >= 0 ? other : token;  // nothing is left where p and q differ by rounding alone
}

}  // namespace outrider
