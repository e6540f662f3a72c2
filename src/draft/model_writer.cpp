#include "draft/model_writer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/math.h"
#include "sample/reject.h"

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
Guess first_guess(int32_t token, float p, bool sampled) { return {token, class_of(p) + (sampled ? 32 : 0), sampled ? 0.2f + 0.785f * p : 0.03f + 0.955f * p}; }
// Never likelier than the first: a model that drafts for itself is always right.
Guess runner_up(int32_t token, float p, bool sampled, const Guess& first) {
  return {token, class_of(p) + 16 + (sampled ? 32 : 0), std::min(sampled ? 0.03f + 0.7f * p : 0.9f * p, 0.9f * first.prior)};
}

}  // namespace

size_t ModelWriter::bytes(const ModelPlan& plan, const Options& o, int64_t row, bool by_rejection) {
  const size_t choosing = Sampler::most_bytes(row) + (by_rejection ? DrawnRows::bytes(size_t(row)) : 0);
  return size_t(pages_in_all(o)) * plan.kv_geometry(o.k_type, o.v_type).page_bytes() + Pass::bytes(plan.config, rows_in_pass(o), rows_with_logits(o)) + size_t(o.requests) * choosing;
}

ModelWriter::ModelWriter(const Model& model, const kernels::Kernels& kernels, const Clock& clock, Options options, std::shared_ptr<const Translator> translator)
    : model_(model), kernels_(kernels), clock_(clock), options_(options), translator_(std::move(translator)), padding_(model.padding_ids()) {
  if (!translator_) return;
  target_row_.resize(size_t(translator_->target_rows()));
  padding_.assign(translator_->target_padding().begin(), translator_->target_padding().end());
}

Result<std::unique_ptr<ModelWriter>> ModelWriter::make(const Model& model, const kernels::Kernels& kernels, ThreadPool& pool, const Clock& clock, Options options,
                                                       std::shared_ptr<const Translator> translator) {
  std::unique_ptr<ModelWriter> w(new ModelWriter(model, kernels, clock, options, std::move(translator)));
  auto pages = PagePool::make(model.kv_geometry(options.k_type, options.v_type), pages_in_all(options));
  if (!pages) return pages.error();
  auto pass = Pass::make(model.config(), kernels, pool, rows_in_pass(options), rows_with_logits(options));
  if (!pass) return pass.error();
  w->pages_.emplace(std::move(*pages)), w->pass_.emplace(std::move(*pass)), w->kept_.emplace(options.kept_prefixes);
  if (!options.whole_head) w->likely_.emplace(model.config().vocabulary, model.vocabulary().end_ids);
  return w;
}

Result<void> ModelWriter::begin(int64_t request, std::span<const int32_t> prompt, const SamplingSettings& sampling, bool by_rejection) {
  std::vector<int32_t> text;
  if (translator_) text = translator_->open(prompt, options_.context);
  const auto own_prompt = translator_ ? std::span<const int32_t>(text) : prompt;
  Timeline timeline = kept_->resume(*pages_, options_.context, own_prompt, int64_t(own_prompt.size()), pages_per_request(options_));
  if (!timeline.ok()) return Error{"the drafter has no memory left for another request", "allow more requests or fewer drafters", ErrorKind::does_not_fit};
  if (likely_ && lines_.empty()) likely_->clear(), likely_tiles_ = 0;
  expect(prompt);
  const int32_t rows = int32_t(translator_ ? translator_->target_rows() : model_.config().vocabulary);
  SamplingSettings settings = sampling;  // the target's vocabulary may have more rows of padding than ours
  std::erase_if(settings.logit_bias, [&](const LogitBias& b) { return b.token >= rows; });
  if (options_.temperature) settings.temperature = *options_.temperature;
  if (options_.top_k) settings.top_k = *options_.top_k;
  const auto line = lines_.emplace(request, Line{.timeline = std::move(timeline), .sampler = Sampler(settings, rows, padding_, kernels_), .text = std::move(text)}).first;
  if (by_rejection) line->second.drawn.emplace(size_t(rows));
  return {};
}

// The head computes what the text is likely to need: more, the more the text has shown.
void ModelWriter::expect(std::span<const int32_t> tokens) {
  if (!likely_) return;
  for (const int32_t& token : tokens) likely_->add(own(token));
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
  if (const double own = costs_.predict_ms(rows, context); own > 0) return target && !costs_.paced() ? own * target->pace() : own;  // prices of another run
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
    if (chunk.size() >= StepCosts::kManyRows) costs_.learn(int(chunk.size()), t.length(), clock_.now_ms() - start_ms);
    t.committed(chunk);
    text = text.subspan(chunk.size());
  }
  return true;
}

// `tokens` of what is late: all, or, when they are fewer, the first few and the end.
bool ModelWriter::read_late(Line& line, std::span<const int32_t> text, int64_t late, int64_t tokens) {
  if (tokens == 0) return true;
  if (tokens < late) {
    if (!read(line.timeline, text.first(size_t(kFirst)))) return false;
    line.skipped = late - tokens;
    tokens -= kFirst;
  } else {
    tokens = late;
  }
  return read(line.timeline, text.last(size_t(tokens)));
}

bool ModelWriter::start(int64_t request, std::span<const int32_t> committed, int32_t pending, int64_t read_tokens, const StepCosts* target) {
  // The first passes find everything cold: they are odd samples of a price that is believed, not the price.
  if (target && !costs_.known(int64_t(committed.size()))) costs_.learn(1, int64_t(committed.size()), predict_ms(1, int64_t(committed.size()), target));
  Line& line = lines_.at(request);
  Timeline& t = line.timeline;
  t.clear_window();
  if (line.drawn) line.drawn->clear();
  const auto text = own(line, committed), next = own(pending);
  const int64_t late = behind(line, int64_t(committed.size()));
  if (next.empty() || t.length() + (read_tokens > 0 ? read_tokens : late) + int64_t(next.size()) > t.capacity()) return false;
  if (!read_late(line, text, late, read_tokens)) return false;
  const int64_t catch_up = behind(line, int64_t(committed.size()));
  line.known = int(catch_up) + int(next.size());
  if (line.known > kCatchUpRows + 1) return false;
  int parent = Timeline::kRoot;
  for (const int32_t token : text.last(size_t(catch_up))) parent = t.add_row(token, parent);
  for (const int32_t token : next) parent = t.add_row(token, parent);
  return line.started = true;
}

bool ModelWriter::room(int64_t request, int32_t drafted) const {
  const Line& line = lines_.at(request);
  const Timeline& t = line.timeline;
  const int rows = int(own(drafted).size());
  return (!line.drawn || line.drawn->room()) && rows > 0 && t.rows() + rows <= Timeline::kWindowRows && t.length() + t.rows() + rows < t.capacity();
}

void ModelWriter::ask(std::span<const Ask> asks) {
  const double start_ms = clock_.now_ms();
  pass_->clear();
  for (const Ask& a : asks) {
    Timeline& t = lines_.at(a.request).timeline;
    const int first = a.drafted.empty() ? 0 : t.rows();
    if (!a.drafted.empty())
      for (const int32_t token : own(a.drafted.back())) t.add_row(token, t.rows() - 1);
    pass_->window(t, first);
  }
  const int rows = pass_->rows();
  model_.forward(*pass_);
  if (asks.size() == 1) costs_.learn(rows, int64_t(asks[0].committed.size()), clock_.now_ms() - start_ms);
  int logit_row = 0;
  for (const Ask& a : asks) {
    Line& line = lines_.at(a.request);
    logit_row += a.drafted.empty() ? line.timeline.rows() : int(own(a.drafted.back()).size());
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
  if (translator_) {
    translator_->scatter(logits, target_row_);
    logits = target_row_;
  }
  if (line.drawn) return answer_drawn(ask, line, logits, path);
  const int32_t first = line.sampler.choose(logits, position, ask.committed, path);
  const float p = top_probability(kernels_, logits, first);
  if (p < options_.min_probability) return;
  const Guess chosen = first_guess(first, p, sampled);
  ask.out->add(chosen);
  const float first_logit = logits[size_t(first)];
  logits[size_t(first)] = -std::numeric_limits<float>::infinity();
  const int32_t second = line.sampler.choose(logits, position, ask.committed, path);
  const float q = float(double(p) * math::exp(double(logits[size_t(second)]) - double(first_logit)));
  if (second != first && q > 0.01f) ask.out->add(runner_up(second, std::min(q, 1.0f), sampled, chosen));
}

// One token, drawn. Whether there is an answer may not depend on what was drawn.
void ModelWriter::answer_drawn(const Ask& ask, Line& line, std::span<const float> logits, std::span<const int32_t> path) {
  const auto surest = int32_t(kernels_.argmax(logits.data(), int64_t(logits.size())));
  if (top_probability(kernels_, logits, surest) < options_.min_probability) return;
  const SamplingSettings& settings = line.sampler.settings();
  const double uniform = RejectionNoise{settings.seed, settings.stream}.draft(int64_t(ask.committed.size() + path.size()), int(ask.drafted.size()));
  const int32_t token = draw(line.drawn->add(line.sampler, logits, ask.committed, path), uniform);
  ask.out->add(first_guess(token, top_probability(kernels_, logits, token), !settings.greedy()));
}

void ModelWriter::observe(int64_t request, std::span<const int32_t> drafted, const DraftOutcome& outcome) {
  const auto found = lines_.find(request);
  if (found == lines_.end()) return;
  Line& line = found->second;
  const auto accepted = outcome.acceptance->path();
  const auto token_of = [&](int32_t row) -> const int32_t& { return outcome.draft->tree.tokens[size_t(row)]; };
  for (const int32_t row : accepted.subspan(1)) expect({&token_of(row), 1});
  expect({&outcome.acceptance->next, 1});
  if (translator_)
    for (const int32_t row : accepted) translator_->append(token_of(row), line.text);
  if (!line.started) return;
  line.started = false;
  int length = line.known;
  for (size_t i = 0; i < drafted.size() && i + 1 < accepted.size() && token_of(accepted[i + 1]) == drafted[i]; ++i) length += int(own(drafted[i]).size());
  std::array<int32_t, kMaxDraftRows> path;
  std::iota(path.begin(), path.end(), 0);
  if (!line.timeline.commit({path.data(), size_t(std::min(length, line.timeline.rows()))})) line.timeline.clear_window();
}

}  // namespace outrider
