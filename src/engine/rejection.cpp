// A round's acceptance for requests that want the classical rule.
#include "engine/engine.h"
#include "sample/reject.h"

namespace outrider {

Acceptance Engine::accept_by_rejection(Sequence& s) {
  const DraftTree& tree = s.draft.tree;
  const RejectionNoise noise{s.request.sampling.seed, s.request.sampling.stream};
  const auto target = [&](int row) {
    std::array<TokenId, kMaxDraftRows> path;
    const Distribution p = s.sampler.distribution(pass_->logits(s.first_logits + row), s.timeline.tokens(), tree.path_tokens(row, path), s.probabilities);
    return std::span(s.probabilities).first(p.size());
  };
  return outrider::accept_by_rejection(tree, s.draft.drawn_from, noise, s.timeline.length() + 1, target, [&](int row) { return choose(s, row); });
}

}  // namespace outrider
