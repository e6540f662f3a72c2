// What the step tells the drafter and the controller, and what it asks of them.
#include <algorithm>

#include "engine/engine.h"

namespace outrider {

namespace {
constexpr double kUsualRest = 128, kSureRest = 64;  // tokens an answer goes on for: as a rule, and at least as far as losses may count on it
}

void Engine::plan_drafts(StepRecord& record) {
  jobs_.clear();
  for (auto& s : running_) {
    s->draft.reset(s->pending);
    s->emitted = 0;
    if (s->reading) continue;
    record.decoding += 1;
    const int budget = int(std::min<int64_t>({kMaxDraftRows - 1, s->request.max_draft, tokens_left(*s) - 1}));
    const double ahead = tokens_ahead(*s, kUsualRest), sure = tokens_ahead(*s, kSureRest);
    if (drafter_ && s->drafting && budget > 0)
      jobs_.push_back({s->id, s->timeline.tokens(), s->pending, budget, &s->draft, controller_.spare_ms(s->ledger, sure), controller_.reserve_ms(s->ledger, sure), controller_.invest_ms(s->ledger, ahead), ahead});
  }
}

// The longer an answer has become, the longer it is likely to go on.
double Engine::tokens_ahead(const Sequence& s, double at_least) const {
  return std::min(double(tokens_left(s)), std::max(at_least, double(s.answer->tokens.size())));
}

int64_t Engine::longest_context() const {
  int64_t longest = 0;
  for (const auto& s : running_)
    if (!s->reading) longest = std::max(longest, s->timeline.length());
  return longest;
}

// Of every window row, shared out over the threads.
void Engine::find_top_tokens() {
  top_rows_.clear();
  for (const auto& s : running_)
    if (!s->reading)
      for (int row = 0; row < s->draft.tree.size; ++row) top_rows_.push_back(s->first_logits + row);
  const size_t stride = finders_.size();
  pool_.run(int64_t(std::min(stride, top_rows_.size())), [&](int64_t part) {
    for (size_t i = size_t(part); i < top_rows_.size(); i += stride) finders_[size_t(part)].find(*kernels_, std::as_const(*pass_).logits(top_rows_[i]), top_[i]);
  });
}

void Engine::tell_drafter() {
  outcomes_.clear();
  size_t first = 0;
  for (auto& s : running_) {
    if (s->reading) continue;
    const size_t rows = size_t(s->draft.tree.size);
    const auto top = finders_.empty() ? std::span<const TopTokens>() : std::span<const TopTokens>(top_).subspan(first, rows);
    outcomes_.push_back({s->id, s->timeline.tokens(), &s->draft, &s->acceptance, top});
    first += rows;
  }
  if (!outcomes_.empty()) drafter_->observe(outcomes_);
}

// Expectations beside what came, the prices learned, and every request's ledger. A request that has just read its prompt drafted nothing.
void Engine::settle(StepRecord& record) {
  const int64_t context = longest_context();
  for (const auto& s : running_)
    if (!s->reading && s->acceptance.length > 0) record.expected_tokens += s->draft.expected_tokens();
  for (const DraftJob& job : jobs_) {
    record.invested_ms += job.invested_ms;
    for (auto& s : running_)
      if (s->id == job.request) s->ledger.invested_ms += job.invested_ms;
  }
  if (record.decoding > 0) record.expected_ms += controller_.pass_ms(record.rows + record.prompt_rows, context);
  for (auto& s : running_) {
    controller_.book(s->ledger, record, s->acceptance.length > 0 ? s->emitted : 0, std::max(1, record.decoding), context);
    s->answer->account.balance_ms = s->ledger.balance_ms;
  }
  controller_.learn(record, record.decoding, context);
  if (record.decoding != 1 || record.rows != 1 || record.prompt_rows > 0 || record.draft_passes > 0) return;
  for (auto& s : running_) s->answer->account.alone_steps += 1;
}

void Engine::archive(Archive& archive) {
  controller_.archive(archive);
  if (drafter_) drafter_->archive(archive);
}

std::vector<std::byte> Engine::experience() {
  Archive archive;
  this->archive(archive);
  return archive.written();
}

bool Engine::recall(std::span<const std::byte> bytes) {
  if (!idle() || bytes.size() != experience().size()) return false;
  Archive archive(bytes);
  this->archive(archive);
  return archive.whole();
}

}  // namespace outrider
