#include "draft/model_writer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.h"

namespace outrider {

namespace {

constexpr int kChunkRows = 128;  // prompt rows in one forward
constexpr int64_t kFirst = 4, kLeastEnd = 28;  // of a text that is read in part: its first tokens, and at least so many of its last
int pages_per_request(const ModelWriter::Options& o) { return pages_for(o.context) + 2; }  // + the window + a page copied on write
int pages_in_all(const ModelWriter::Options& o) { return o.requests * pages_per_request(o) + o.kept_prefixes; }
int rows_with_logits(const ModelWriter::Options& o) { return o.requests * (ModelWriter::kCatchUpRows + 1); }
int rows_in_pass(const ModelWriter::Options& o) { return std::max(kChunkRows, rows_with_logits(o)); }

// Evidence of a guess: probabilities in sixteen classes, evenly by log odds; its first choice and the runner-up, greedy and sampled apart.
// Priors: with shared noise a sampled choice is often the target's even where it is unlikely.
int class_of(float p) {
  const double odds = math::log(std::max(double(p), 1e-6) / std::max(1 - double(p), 1e-6));
  return std::clamp(int(std::floor(odds * 1.5)) + 5, 0, 15);
}
Guess first_guess(int32_t token, float p, bool sampled) { return {token, class_of(p) + (sampled ? 32 : 0), sampled ? 0.45f + 0.5f * p : 0.15f + 0.8f * p}; }
Guess runner_up(int32_t token, float p, bool sampled) { return {token, class_of(p) + 16 + (sampled ? 32 : 0), sampled ? 0.05f + 0.3f * p : 0.5f * p}; }

}  // namespace

size_t ModelWriter::bytes(const ModelPlan& plan, const Options& o) {
  return size_t(pages_in_all(o)) * plan.kv_geometry(o.k_type, o.v_type).page_bytes() + Pass::bytes(plan.config, rows_in_pass(o), rows_with_logits(o));
}

ModelWriter::ModelWriter(const Model& model, const kernels::Kernels& kernels, const Clock& clock, Options options)
    : model_(model), kernels_(kernels), clock_(clock), options_(options), padding_(model.padding_ids()) {}

Result<std::unique_ptr<ModelWriter>> ModelWriter::make(const Model& model, const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock, Options options) {
  std::unique_ptr<ModelWriter> w(new ModelWriter(model, kernels, clock, options));
  auto pages = PagePool::make(model.kv_geometry(options.k_type, options.v_type), pages_in_all(options));
  if (!pages) return pages.error();
  auto pass = Pass::make(model.config(), kernels, pool, rows_in_pass(options), rows_with_logits(options));
  if (!pass) return pass.error();
  w->pages_.emplace(std::move(*pages)), w->pass_.emplace(std::move(*pass)), w->kept_.emplace(options.kept_prefixes);
  if (!options.whole_head) w->likely_.emplace(model.config().vocabulary, model.vocabulary().end_ids);
  return w;
}

Result<void> ModelWriter::begin(int64_t request, std::span<const int32_t> prompt, const SamplingSettings& sampling) {
  Timeline timeline = kept_->resume(*pages_, options_.context, prompt, int64_t(prompt.size()), pages_per_request(options_));
  if (!timeline.ok()) return Error{"the drafter has no memory left for another request", "allow more requests or fewer drafters", ErrorKind::does_not_fit};
  if (likely_ && lines_.empty()) likely_->clear(), likely_tiles_ = 0;
  expect(prompt);
  SamplingSettings own = sampling;  // the target's vocabulary may have more rows of padding than ours
  std::erase_if(own.logit_bias, [&](const LogitBias& b) { return b.token >= model_.config().vocabulary; });
  if (options_.temperature) own.temperature = *options_.temperature;
  if (options_.top_k) own.top_k = *options_.top_k;
  lines_.emplace(request, Line{std::move(timeline), Sampler(own, int32_t(model_.config().vocabulary), padding_, kernels_)});
  return {};
}

// The head computes what the text is likely to need: more, the more the text has shown.
void ModelWriter::expect(std::span<const int32_t> tokens) {
  if (!likely_) return;
  likely_->add(tokens);
  if (likely_tiles_ == likely_->tiles().size()) return;
  pass_->restrict_head(likely_->tiles());
  likely_tiles_ = likely_->tiles().size();
}

void ModelWriter::end(int64_t request) {
  const auto found = lines_.find(request);
  if (found == lines_.end()) return;
  found->second.timeline.clear_window();
  if (found->second.skipped == 0) kept_->keep(std::move(found->second.timeline));
  lines_.erase(found);
}

int64_t ModelWriter::unread(int64_t request, int64_t committed) const {
  const int64_t n = behind(lines_.at(request), committed);
  return n > kCatchUpRows ? n : 0;
}

int64_t ModelWriter::affordable(int64_t request, int64_t committed, double ms, const StepCosts* target) const {
  const int64_t all = unread(request, committed);
  if (all == 0 || read_ms(all, committed, target) <= ms) return all;
  if (lines_.at(request).timeline.length() > 0) return 0;  // a gap within the text would stay
  const int64_t part = int64_t(ms / std::max(1e-6, read_ms(1, committed, target)));
  return part >= kFirst + kLeastEnd ? std::min(part, all) : 0;
}

double ModelWriter::predict_ms(int rows, int64_t context, const StepCosts* target) const {
  if (const double own = costs_.predict_ms(rows, context); own > 0) return own;
  return target ? options_.relative_cost * target->predict_ms(rows, context) : 0;
}

double ModelWriter::read_ms(int64_t tokens, int64_t context, const StepCosts* target) const {
  return double(tokens) / kChunkRows * predict_ms(kChunkRows, context, target);
}

double ModelWriter::ask_ms(int64_t request, int64_t committed, int place, const StepCosts* target) const {
  const int64_t late = behind(lines_.at(request), committed);
  const int rows = place > 0 ? 1 : 1 + int(late > kCatchUpRows ? 0 : late);
  return predict_ms(rows, committed, target);
}

bool ModelWriter::read(Timeline& t, std::span<const int32_t> text) {
  while (!text.empty()) {
    const auto chunk = text.first(std::min<size_t>(kChunkRows, text.size()));
    if (!t.room(int64_t(chunk.size()))) return false;
    const double start_ms = clock_.now_ms();
    pass_->clear();
    pass_->extend(t, chunk);
    model_.forward(*pass_);
    costs_.learn(int(chunk.size()), t.length(), clock_.now_ms() - start_ms);
    t.committed(chunk);
    text = text.subspan(chunk.size());
  }
  return true;
}

bool ModelWriter::start(int64_t request, std::span<const int32_t> committed, int32_t pending, int64_t read_tokens) {
  Line& line = lines_.at(request);
  Timeline& t = line.timeline;
  t.clear_window();
  const int64_t late = behind(line, int64_t(committed.size()));
  if (read_tokens > 0 && read_tokens < late) {
    if (!read(t, committed.first(size_t(kFirst)))) return false;
    line.skipped = late - read_tokens;
    read_tokens -= kFirst;
  }
  if (read_tokens > 0 && !read(t, committed.last(size_t(behind(line, int64_t(committed.size())))))) return false;
  line.catch_up = int(behind(line, int64_t(committed.size())));
  if (line.catch_up > kCatchUpRows || t.length() + line.catch_up + 1 > t.capacity()) return false;
  int parent = Timeline::kRoot;
  for (const int32_t token : committed.last(size_t(line.catch_up))) parent = t.add_row(token, parent);
  t.add_row(pending, parent);
  return line.started = true;
}

bool ModelWriter::room(int64_t request) const {
  const Timeline& t = lines_.at(request).timeline;
  return t.rows() < Timeline::kWindowRows && t.length() + t.rows() + 1 < t.capacity();
}

void ModelWriter::ask(std::span<const Ask> asks) {
  const double start_ms = clock_.now_ms();
  pass_->clear();
  for (const Ask& a : asks) {
    Timeline& t = lines_.at(a.request).timeline;
    if (!a.drafted.empty()) t.add_row(a.drafted.back(), t.rows() - 1);
    pass_->window(t, a.drafted.empty() ? 0 : t.rows() - 1);
  }
  const int rows = pass_->rows();
  model_.forward(*pass_);
  if (asks.size() == 1) costs_.learn(rows, int64_t(asks[0].committed.size()), clock_.now_ms() - start_ms);
  int logit_row = 0;
  for (const Ask& a : asks) {
    Line& line = lines_.at(a.request);
    logit_row += a.drafted.empty() ? line.timeline.rows() : 1;
    answer(a, line, pass_->logits(logit_row - 1));
  }
}

// Its choice, and what it would choose without that one.
void ModelWriter::answer(const Ask& ask, Line& line, std::span<float> logits) {
  std::array<int32_t, kMaxDraftRows> ancestors;
  ancestors[0] = ask.pending;
  std::ranges::copy(ask.drafted, ancestors.begin() + 1);
  const std::span<const int32_t> path(ancestors.data(), ask.drafted.size() + 1);
  const int64_t position = int64_t(ask.committed.size() + path.size());
  const bool sampled = !line.sampler.settings().greedy();
  *ask.out = {};
  const int32_t first = line.sampler.choose(logits, position, ask.committed, path);
  const float p = top_probability(kernels_, logits, first);
  if (p < options_.min_probability) return;
  ask.out->add(first_guess(first, p, sampled));
  const float first_logit = logits[size_t(first)];
  logits[size_t(first)] = -std::numeric_limits<float>::infinity();
  const int32_t second = line.sampler.choose(logits, position, ask.committed, path);
  const float q = float(double(p) * math::exp(double(logits[size_t(second)]) - double(first_logit)));
  if (second != first && q > 0.01f) ask.out->add(runner_up(second, std::min(q, 1.0f), sampled));
}

void ModelWriter::observe(int64_t request, std::span<const int32_t> drafted, const DraftOutcome& outcome) {
  const auto found = lines_.find(request);
  if (found == lines_.end()) return;
  for (const int32_t row : outcome.acceptance->path().subspan(1)) expect({&outcome.draft->tree.tokens[size_t(row)], 1});
  expect({&outcome.acceptance->next, 1});
  if (!found->second.started) return;
  Line& line = found->second;
  line.started = false;
  std::array<int32_t, kMaxDraftRows> path;
  size_t length = 0;
  for (; int(length) < line.catch_up + 1; ++length) path[length] = int32_t(length);  // the pending token's row too
  const auto accepted = outcome.acceptance->path();
  for (size_t i = 0; i < drafted.size() && int(length) < line.timeline.rows() && i + 1 < accepted.size(); ++i) {
    if (outcome.draft->tree.tokens[size_t(accepted[i + 1])] != drafted[i]) break;
    path[length] = int32_t(length), ++length;
  }
  if (!line.timeline.commit({path.data(), length})) line.timeline.clear_window();
}

}  // namespace outrider
