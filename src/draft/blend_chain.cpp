// Drafts for requests that accept by rejection are chains. Whether a place is drafted may depend on the tokens above it, never on the
// one that was drawn there, or answers would no longer have the target's distribution: what the model drew is not exchanged for a
// likelier guess, nor dropped, nor cut off. Guesses of the free sources follow, which nobody drew, as many as pay.
#include "draft/blend.h"

namespace outrider {

void Blend::grow_chain(DraftJob& job, const DraftBudget& budget, double promise) const {
  const Line& line = lines_.at(job.request);
  Draft& draft = *job.draft;
  int last = 0;
  for (size_t place = 0; place < size_t(line.asked.count) && line.asked.guesses[place].count > 0; ++place) {
    const Guess& drawn = line.asked.guesses[place].list[0];
    last = draft.add(drawn.token, last, survival_.single(int(sources_.size()), drawn), int(sources_.size()));
    draft.drawn_from[size_t(last)] = model_->drawn_from(job.request, place);
  }
  const auto value = [&] { return draft.expected_tokens() - 1 - budget.tokens_per_ms * budget.pass_ms(draft.size()); };
  double best = value() + (draft.size() == 0 ? promise : 0);
  int keep = draft.size();
  std::array<int32_t, kMaxDraftRows> path;
  while (draft.size() < job.budget) {
    const Choices choices = judge(line, draft.tree.path_tokens(last, path).subspan(1), nullptr);
    if (choices.count == 0) break;
    const Choice& c = choices.list[0];
    const int by = owner(draft, c, shares_);
    if (by < 0) break;
    last = draft.add(c.token, last, c.survival, by);
    if (budget.free() || value() > best) best = value(), keep = draft.size();
  }
  draft.cut(keep);
}

}  // namespace outrider
