// Who runs: admission, prompt chunks, context limits, the end of answers.
#include <algorithm>

#include "base/check.h"
#include "engine/engine.h"

namespace outrider {

namespace {

// Pages one request may take: its context, the window, and a page shared with a kept prefix that must be copied.
int pages_per_request(const EngineOptions& o) { return pages_for(o.context) + 2; }

int pages_in_all(const EngineOptions& o) { return o.requests * pages_per_request(o) + o.kept_prefixes; }

// A chunk of prompts beside the windows of all requests.
int rows_in_pass(const EngineOptions& o) { return o.prompt_rows + o.requests * kMaxDraftRows; }

}  // namespace

const char* finish_name(Finish finish) {
  switch (finish) {
    case Finish::running: return "running";
    case Finish::stop: return "stop";
    case Finish::length: return "length";
    case Finish::cancelled: return "cancelled";
  }
  return "";
}

Engine::Engine(const Model& model, ThreadPool& pool, const Clock& clock, std::unique_ptr<Drafter> drafter, EngineOptions options)
    : model_(model), pool_(pool), clock_(clock), options_(options), drafter_(std::move(drafter)), prefixes_(options.kept_prefixes), padding_(model.padding_ids()) {}

size_t Engine::kv_bytes(const ModelPlan& plan, const EngineOptions& o) { return size_t(pages_in_all(o)) * plan.kv_geometry(o.k_type, o.v_type).page_bytes(); }
size_t Engine::work_bytes(const ModelPlan& plan, const EngineOptions& o) { return Pass::bytes(plan.config, rows_in_pass(o), o.requests * kMaxDraftRows); }
size_t Engine::choosing_bytes(const ModelPlan& plan, const EngineOptions& o, int threads, bool wants_top, bool by_rejection) {
  const int64_t row = plan.config.vocabulary;
  const size_t each = Sampler::most_bytes(row) + (by_rejection ? size_t(row) * sizeof(TokenProbability) : 0);
  return size_t(o.requests) * each + (wants_top ? size_t(threads) * TopFinder::bytes(row) : 0);
}

Result<std::unique_ptr<Engine>> Engine::make(const Model& model, const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock,
                                             std::unique_ptr<Drafter> drafter, EngineOptions o) {
  if (o.context < 1) return Error{"a context of " + std::to_string(o.context) + " tokens holds nothing", "give -c 1 or more", ErrorKind::usage};
  const bool quantised = o.k_type == kernels::KvType::q8_0 || o.v_type == kernels::KvType::q8_0;
  if (quantised && model.config().head_dim % 32)
    return Error{"KV type q8_0 needs heads of a multiple of 32 values; this model has " + std::to_string(model.config().head_dim), "use --cache-type-k f16 --cache-type-v f16", ErrorKind::usage};
  std::unique_ptr<Engine> engine(new Engine(model, pool, clock, std::move(drafter), o));
  auto pages = PagePool::make(model.kv_geometry(o.k_type, o.v_type), pages_in_all(o));
  if (!pages) return pages.error();
  auto pass = Pass::make(model.config(), kernels, pool, rows_in_pass(o), o.requests * kMaxDraftRows);
  if (!pass) return pass.error();
  engine->kernels_ = &kernels;
  engine->pages_.emplace(std::move(*pages)), engine->pass_.emplace(std::move(*pass));
  if (engine->drafter_ && engine->drafter_->wants_top()) {
    for (int t = 0; t < pool.size(); ++t) engine->finders_.emplace_back(model.config().vocabulary);
    engine->top_.resize(size_t(o.requests) * kMaxDraftRows), engine->top_rows_.reserve(engine->top_.size());
  }
  engine->jobs_.reserve(size_t(o.requests)), engine->outcomes_.reserve(size_t(o.requests));
  engine->records_.reserve(size_t(o.context) + 64);
  return engine;
}

Result<int64_t> Engine::submit(Request request) {
  if (request.prompt.empty()) return Error{"the prompt is empty", "give at least one token of text", ErrorKind::usage};
  for (const TokenId t : request.prompt)
    if (t < 0 || t >= model_.config().vocabulary)
      return Error{"token " + std::to_string(t) + " is outside the vocabulary of " + std::to_string(model_.config().vocabulary), "", ErrorKind::usage};
  if (auto r = validate(request.sampling, int32_t(model_.config().vocabulary)); !r) return r.error();
  if (int64_t(request.prompt.size()) > options_.context)
    return Error{"the prompt has " + std::to_string(request.prompt.size()) + " tokens, the context holds " + std::to_string(options_.context),
                 "shorten the prompt or raise -c", ErrorKind::does_not_fit};
  const int64_t id = next_id_++;
  Answer& answer = answers_[id];
  answer.account.prompt_tokens = int64_t(request.prompt.size());
  answer.account.submitted_ms = clock_.now_ms();
  waiting_.emplace_back(id, std::move(request));
  return id;
}

void Engine::cancel(int64_t id) {
  for (auto& s : running_)
    if (s->id == id) finish(*s, Finish::cancelled);
  for (auto& [waiting, request] : waiting_)
    if (waiting == id) answers_.at(id).finish = Finish::cancelled;
  std::erase_if(waiting_, [id](const auto& w) { return w.first == id; });
  retire();
}

const Engine::Answer& Engine::answer(int64_t id) const { return answers_.at(id); }
void Engine::release(int64_t id) { answers_.erase(id); }

void Engine::admit() {
  while (!waiting_.empty() && int(running_.size()) < options_.requests) {
    auto [id, request] = std::move(waiting_.front());
    waiting_.pop_front();
    Answer& answer = answers_.at(id);
    // The last prompt token is always computed: its logits choose the first token.
    Timeline timeline = prefixes_.resume(*pages_, options_.context, request.prompt, int64_t(request.prompt.size()) - 1, pages_per_request(options_));
    OUTRIDER_CHECK(timeline.ok());
    answer.account.cached_tokens = timeline.length();
    Sampler sampler(request.sampling, int32_t(model_.config().vocabulary), padding_, *kernels_);
    auto s = std::make_unique<Sequence>(Sequence{.id = id, .request = std::move(request), .timeline = std::move(timeline), .sampler = std::move(sampler), .answer = &answer});
    answer.tokens.reserve(size_t(std::max<int64_t>(0, tokens_left(*s))));
    answer.sources.reserve(answer.tokens.capacity());
    if (s->request.by_rejection()) s->probabilities.resize(size_t(model_.config().vocabulary));
    s->drafting = drafter_ && s->request.max_draft > 0 && drafter_->begin(id, {s->request.prompt, s->request.prediction, s->request.sampling, s->request.by_rejection()}).ok();
    if (tokens_left(*s) <= 0) finish(*s, Finish::length);
    running_.push_back(std::move(s));
  }
}

// Prompts share the step's rows in order of arrival.
void Engine::plan_prompts(StepRecord& record) {
  int left = options_.prompt_rows;
  for (auto& s : running_) {
    s->chunk = 0;
    if (!s->reading || s->answer->finish != Finish::running) continue;
    const int chunk = std::min<int>(left, int(s->unread().size()));
    if (chunk == 0) continue;
    OUTRIDER_CHECK(s->timeline.room(chunk));
    s->chunk = chunk, left -= chunk, record.prompt_rows += chunk;
  }
}

// Tokens the answer may still hold: its own limit and the context's.
int64_t Engine::tokens_left(const Sequence& s) const {
  const int64_t emitted = int64_t(s.answer->tokens.size());
  const int64_t context = options_.context - int64_t(s.request.prompt.size()) - emitted;
  return s.request.max_tokens < 0 ? context : std::min(context, s.request.max_tokens - emitted);
}

// Delivers a round's tokens: the accepted ones, then the target's next choice, up to the end of the answer.
void Engine::emit(Sequence& s, StepRecord& record) {
  RequestAccount& account = s.answer->account;
  const int accepted = std::max(0, s.acceptance.length - 1);
  const double now_ms = clock_.now_ms();
  int delivered = 0;
  for (int i = 0; i <= accepted && s.answer->finish == Finish::running; ++i) {
    const size_t row = i < accepted ? size_t(s.acceptance.rows[size_t(i + 1)]) : 0;
    const TokenId token = row > 0 ? s.draft.tree.tokens[row] : s.acceptance.next;
    if (!s.request.ignore_end && model_.vocabulary().ends_generation(token)) {
      finish(s, Finish::stop);
      break;
    }
    s.answer->tokens.push_back(token);
    s.answer->sources.push_back(row > 0 ? int8_t(s.draft.source[row]) : kOwn);
    ++delivered;
    if (s.request.stop && s.request.stop->push(token)) finish(s, Finish::stop);
    else if (tokens_left(s) <= 0) finish(s, Finish::length);
  }
  s.pending = s.acceptance.next;
  if (delivered > 0) {
    if (account.emitted == 0) account.first_token_ms = now_ms, account.first_batch_tokens = delivered;
    account.last_token_ms = now_ms;
  }
  account.emitted += delivered, s.emitted = delivered;
  const int cut = accepted + 1 - delivered;
  account.rounds += 1, account.cut += cut;
  record.choices += 1, record.cut += cut, record.emitted += delivered;
  if (s.acceptance.length > 0) count(s, record);
}

void Engine::count(Sequence& s, StepRecord& record) {
  RequestAccount& account = s.answer->account;
  const DraftTree& tree = s.draft.tree;
  const int drafted = tree.size - 1, accepted = s.acceptance.accepted();
  int tested = 0;
  for (int row = 1; row < tree.size; ++row) {
    const auto path = s.acceptance.path();
    tested += std::find(path.begin(), path.end(), tree.parents[size_t(row)]) != path.end();
    account.drafted_by_position[size_t(tree.depth(row) - 1)] += 1;
    account.drafted_by_source[s.draft.source[size_t(row)]] += 1;
  }
  for (int i = 0; i < accepted; ++i) {
    account.accepted_by_position[size_t(i)] += 1;
    account.accepted_by_source[s.draft.source[size_t(s.acceptance.rows[size_t(i + 1)])]] += 1;
  }
  account.drafted += drafted, account.accepted += accepted, account.rejected += tested - accepted, account.untested += drafted - tested;
  record.drafted += drafted, record.accepted += accepted, record.rejected += tested - accepted, record.untested += drafted - tested;
}

void Engine::finish(Sequence& s, Finish why) {
  if (s.answer->finish != Finish::running) return;
  s.answer->finish = why;
  s.answer->account.finished_ms = clock_.now_ms();
}

// Finished sequences leave; what they computed stays for a later prompt that begins the same way.
void Engine::retire() {
  std::erase_if(running_, [&](std::unique_ptr<Sequence>& s) {
    if (s->answer->finish == Finish::running) return false;
    if (drafter_ && s->drafting) drafter_->end(s->id);
    s->timeline.clear_window();
    prefixes_.keep(std::move(s->timeline));
    return true;
  });
}

}  // namespace outrider
