#pragma once
// Acceptance by rejection, the classical rule (Leviathan et al. 2023, arXiv:2211.17192), for those who want to compare. A token x that
// was drawn from q stands with probability min(1, p(x) ÷ q(x)), p being what the target chooses from; where it falls, one is drawn from
// what is left, max(0, p − q). So a token stands in Σ min(p, q) of all cases, the most that is possible, and the answer has the
// target's distribution. But it is not the text of plain decoding: it depends on the drafts. Everything else uses accept.h.
#include "base/noise.h"
#include "sample/accept.h"
#include "sample/distribution.h"

namespace outrider {

// The numbers in (0, 1) that decide, by position as those of the sampler but of a stream of their own.
struct RejectionNoise {
  uint64_t seed, stream;
  double stands(int64_t position) const { return at(position, 0); }
  double instead(int64_t position) const { return at(position, 1); }
  // Of a token drafted at `place` (0 = the first of its round). Another round drafts the same position at another place, and so with a
  // fresh number: the old one has been seen, and what was decided since may depend on it.
  double draft(int64_t position, int place) const { return at(position, 2 + place); }

 private:
  double at(int64_t position, int32_t use) const { return PositionNoise(seed, ~stream, position).uniform(use); }
};

// `drawn_from` is empty for a guess that nobody drew: the source was certain of it, q(token) = 1.
bool token_stands(Distribution p, Distribution drawn_from, int32_t token, double uniform);
// p is overwritten.
int32_t token_instead(std::span<TokenProbability> p, Distribution drawn_from, int32_t token, double uniform);

// Down the chain that begins at row 0; what branches off is passed over. `position` is that of the first drafted token.
// target(row) -> p after that row, valid until the next call; choose(row) -> the target's own choice, after the last row of the chain.
// Each is called for rows of the path only, downwards, once each.
template <class Target, class Choose>
Acceptance accept_by_rejection(const DraftTree& tree, std::span<const Distribution> drawn_from, const RejectionNoise& noise, int64_t position,
                               Target&& target, Choose&& choose) {
  Acceptance result;
  for (int row = 0;; ++row, ++position) {
    result.rows[size_t(result.length++)] = row;
    const size_t next = size_t(row) + 1;
    if (int(next) == tree.size || tree.parents[next] != row) {
      result.next = choose(row);
      return result;
    }
    const std::span<TokenProbability> p = target(row);
    if (token_stands(p, drawn_from[next], tree.tokens[next], noise.stands(position))) continue;
    result.next = token_instead(p, drawn_from[next], tree.tokens[next], noise.instead(position));
    return result;
  }
}

}  // namespace outrider
