#pragma once
// How often two models choose the same token when they share the noise (Gumbel-max), from their distributions alone.
#include <algorithm>
#include <vector>

#include "sample/distribution.h"

namespace outrider::test {

struct Agreement {
  double shared = 0;   // with shared noise: Σ_x 1 ÷ Σ_y max(p_y ÷ p_x, q_y ÷ q_x) over tokens that both may choose
  double maximal = 0;  // of the best coupling there is: 1 − TV = Σ min(p, q)
  double least() const { return maximal / (2 - maximal); }  // (1 − TV) ÷ (1 + TV)
};

// Ordered by p ÷ q, the maximum is p_y ÷ p_x for every y from x on, and q_y ÷ q_x before: one walk.
inline Agreement agreement(Distribution p, Distribution q) {
  struct Both {
    double p, q;
    bool operator<(const Both& o) const { return p * o.q < o.p * q; }
  };
  std::vector<Both> both;
  Agreement result;
  double p_after = 0, q_before = 0;
  for (const TokenProbability& t : p) {
    const double other = double(probability_of(q, t.token));
    p_after += double(t.probability);  // where q is 0, p ÷ q is infinite: behind every x
    if (other > 0) both.push_back({double(t.probability), other}), result.maximal += std::min(both.back().p, other);
  }
  std::ranges::sort(both, std::less<>());
  for (const TokenProbability& t : q)
    if (probability_of(p, t.token) == 0) q_before += double(t.probability);  // p ÷ q is 0: before every x
  for (const Both& x : both) {
    result.shared += 1 / (p_after / x.p + q_before / x.q);
    p_after -= x.p, q_before += x.q;
  }
  return result;
}

}  // namespace outrider::test
