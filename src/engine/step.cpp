// The only place where draft, verify, accept and commit meet.
#include "engine/engine.h"

namespace outrider {

static_assert(kMaxDraftRows == Timeline::kWindowRows, "a draft tree fills a window");

StepRecord Engine::step() {
  StepRecord record;
  record.start_ms = clock_.now_ms();
  admit();
  plan_prompts(record);
  draft(record);
  verify(record);
  accept(record);
  commit(record);
  retire();
  records_.push_back(record);
  return record;
}

// Each decoding request gets a tree of guesses under its pending token.
void Engine::draft(StepRecord& record) {
  plan_drafts(record);
  if (!jobs_.empty() && (!drafter_->weighs_costs() || controller_.ready(record.decoding, longest_context()))) {
    const DraftBudget budget = controller_.budget(record.decoding + record.prompt_rows, record.decoding, longest_context());
    const DraftEffort effort = drafter_->propose(jobs_, budget);
    record.expected_ms = effort.expected_ms, record.draft_passes = effort.passes;
  }
  record.draft_ms = clock_.now_ms() - record.start_ms;
}

// One pass over everybody's rows: prompt chunks into the pages, trees into the windows.
void Engine::verify(StepRecord& record) {
  const double start_ms = clock_.now_ms();
  pass_->clear();
  for (auto& s : running_) {
    s->first_logits = pass_->logit_rows();
    if (s->reading) {
      if (s->chunk == 0) continue;
      const bool last = size_t(s->chunk) == s->unread().size();
      pass_->extend(s->timeline, s->unread().first(size_t(s->chunk)), last ? 1 : 0);
      continue;
    }
    const DraftTree& tree = s->draft.tree;
    for (int row = 0; row < tree.size; ++row) s->timeline.add_row(tree.tokens[size_t(row)], tree.parents[size_t(row)]);
    pass_->window(s->timeline);
    record.rows += tree.size;
  }
  if (pass_->rows() > 0) model_.forward(*pass_);
  record.verify_ms = clock_.now_ms() - start_ms;
}

// The target's own token after a row: what plain decoding would have chosen there.
TokenId Engine::choose(Sequence& s, int row) {
  std::array<TokenId, kMaxDraftRows> path;
  const auto ancestors = s.draft.tree.path_tokens(row, path);
  const int64_t position = s.timeline.length() + int64_t(ancestors.size());
  return s.sampler.choose(pass_->logits(s.first_logits + row), position, s.timeline.tokens(), ancestors);
}

// Requests at once, each down its own path: choosing at rows that the path does not reach would cost more than it saves.
void Engine::accept(StepRecord& record) {
  const double start_ms = clock_.now_ms();
  pool_.run(int64_t(running_.size()), [&](int64_t i) {
    Sequence& s = *running_[size_t(i)];
    if (s.reading) return;
    s.acceptance = s.request.by_rejection() ? accept_by_rejection(s) : outrider::accept(s.draft.tree, [&](int row) { return choose(s, row); });
  });
  if (drafter_ && drafter_->wants_top()) find_top_tokens();
  record.sample_ms = clock_.now_ms() - start_ms;
}

void Engine::commit(StepRecord& record) {
  const double start_ms = clock_.now_ms();
  if (drafter_) tell_drafter();
  for (auto& s : running_) {
    if (s->reading) {
      const auto read = s->unread().first(size_t(s->chunk));
      const bool last = s->chunk > 0 && read.size() == s->unread().size();
      s->timeline.committed(read);
      if (!last) continue;
      s->reading = false;
      s->acceptance.length = 0;
      s->acceptance.next = s->sampler.choose(pass_->logits(s->first_logits), s->timeline.length(), s->timeline.tokens(), {});
    } else {
      OUTRIDER_CHECK(s->timeline.commit(s->acceptance.path()));
    }
    emit(*s, record);
  }
  settle(record);
  record.commit_ms = clock_.now_ms() - start_ms;
}

}  // namespace outrider
