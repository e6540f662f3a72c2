#include "draft/model_drafter.h"

#include <algorithm>

namespace outrider {

namespace {

constexpr int kChunkRows = 128;      // prompt rows in one forward
constexpr int kCatchUpRows = 12;     // more than this is read as text before drafting
int pages_per_request(const ModelDrafter::Options& o) { return pages_for(o.context) + 2; }  // + the window + a page copied on write
int pages_in_all(const ModelDrafter::Options& o) { return o.requests * pages_per_request(o) + o.kept_prefixes; }
int rows_with_logits(const ModelDrafter::Options& o) { return o.requests * (kCatchUpRows + 1); }
int rows_in_pass(const ModelDrafter::Options& o) { return std::max(kChunkRows, rows_with_logits(o)); }

}  // namespace

size_t ModelDrafter::bytes(const ModelPlan& plan, const Options& o) {
  return size_t(pages_in_all(o)) * plan.kv_geometry(o.k_type, o.v_type).page_bytes() + Pass::bytes(plan.config, rows_in_pass(o), rows_with_logits(o));
}

ModelDrafter::ModelDrafter(const Model& model, const kernels::Kernels& kernels, Options options)
    : model_(model), kernels_(kernels), options_(options), padding_(model.padding_ids()) {}

Result<std::unique_ptr<ModelDrafter>> ModelDrafter::make(const Model& model, const kernels::Kernels& kernels, ThreadPool& pool, Options options) {
  std::unique_ptr<ModelDrafter> d(new ModelDrafter(model, kernels, options));
  auto pages = PagePool::make(model.kv_geometry(options.k_type, options.v_type), pages_in_all(options));
  if (!pages) return pages.error();
  auto pass = Pass::make(model.config(), kernels, pool, rows_in_pass(options), rows_with_logits(options));
  if (!pass) return pass.error();
  d->pages_.emplace(std::move(*pages)), d->pass_.emplace(std::move(*pass)), d->kept_.emplace(options.kept_prefixes);
  return d;
}

Result<void> ModelDrafter::begin(int64_t request, std::span<const int32_t> prompt, const SamplingSettings& sampling) {
  Timeline timeline = kept_->resume(*pages_, options_.context, prompt, int64_t(prompt.size()), pages_per_request(options_));
  if (!timeline.ok()) return Error{"the drafter has no memory left for another request", "allow more requests or fewer drafters", ErrorKind::does_not_fit};
  SamplingSettings own = sampling;  // the target's vocabulary may have more rows of padding than ours
  std::erase_if(own.logit_bias, [&](const LogitBias& b) { return b.token >= model_.config().vocabulary; });
  lines_.emplace(request, Line{std::move(timeline), Sampler(own, int32_t(model_.config().vocabulary), padding_, kernels_), 0, {}, 0, false, false, {}});
  return {};
}

void ModelDrafter::end(int64_t request) {
  const auto found = lines_.find(request);
  if (found == lines_.end()) return;
  found->second.timeline.clear_window();
  kept_->keep(std::move(found->second.timeline));
  lines_.erase(found);
}

// Reads what the target has committed since, and puts the rest and the pending token into the window. False when there is no room.
bool ModelDrafter::catch_up(Line& line, const DraftJob& job) {
  Timeline& t = line.timeline;
  t.clear_window();
  line.read_text = false;
  const int drafted = std::min(job.budget, options_.limits.max);
  const int rows = std::min(kCatchUpRows, Timeline::kWindowRows - drafted);  // the last drafted token is never fed
  while (int64_t(job.tokens.size()) - t.length() > rows) {
    const int64_t n = std::min<int64_t>(kChunkRows, int64_t(job.tokens.size()) - t.length());
    const auto text = job.tokens.subspan(size_t(t.length()), size_t(n));
    if (!t.room(n)) return false;
    pass_->clear();
    pass_->extend(t, text);
    model_.forward(*pass_);
    t.committed(text);
    line.read_text = true;
  }
  line.catch_up = int(int64_t(job.tokens.size()) - t.length());
  if (int64_t(job.tokens.size()) + drafted > t.capacity()) return false;
  int parent = Timeline::kRoot;
  for (int i = 0; i < line.catch_up; ++i) parent = t.add_row(job.tokens[size_t(t.length() + i)], parent);
  line.window_row.fill(-1);
  line.window_row[0] = t.add_row(job.pending, parent);
  line.tree_row = 0;
  return true;
}

// The continuation of the row just computed: a drafted token, or the end of the draft.
void ModelDrafter::choose_next(Line& line, DraftJob& job, std::span<const float> logits) {
  std::array<int32_t, kMaxDraftRows> path;
  const auto ancestors = job.draft->tree.path_tokens(line.tree_row, path);
  const int64_t position = int64_t(job.tokens.size() + ancestors.size());
  const int token = line.sampler.choose(logits, position, job.tokens, ancestors);
  const float p = top_probability(kernels_, logits, token);
  line.writing = false;
  if (p < options_.limits.min_probability) return;
  const int row = job.draft->add(token, line.tree_row, p);
  job.draft->source = kind();
  if (job.draft->size() >= std::min(job.budget, options_.limits.max)) return;
  line.window_row[size_t(row)] = line.timeline.add_row(token, line.window_row[size_t(line.tree_row)]);
  line.tree_row = row;
  line.writing = true;
}

void ModelDrafter::propose(std::span<DraftJob> jobs) {
  for (DraftJob& job : jobs) {
    Line& line = lines_.at(job.request);
    line.writing = std::min(job.budget, options_.limits.max) > 0 && (!options_.limits.paced || line.pace.open()) && catch_up(line, job);
  }
  for (bool first = true;; first = false) {
    pass_->clear();
    for (const DraftJob& job : jobs) {
      const Line& line = lines_.at(job.request);
      if (line.writing) pass_->window(line.timeline, first ? 0 : line.timeline.rows() - 1);
    }
    if (pass_->rows() == 0) break;
    model_.forward(*pass_);
    int logit_row = 0;
    for (DraftJob& job : jobs) {
      Line& line = lines_.at(job.request);
      if (!line.writing) continue;
      logit_row += first ? line.timeline.rows() : 1;
      choose_next(line, job, pass_->logits(logit_row - 1));
    }
  }
  for (DraftJob& job : jobs)
    if (job.draft->size() < options_.limits.min) job.draft->reset(job.pending);
}

void ModelDrafter::observe(std::span<const DraftOutcome> outcomes) {
  for (const DraftOutcome& o : outcomes) {
    const auto found = lines_.find(o.request);
    if (found == lines_.end() || found->second.timeline.rows() == 0) continue;
    Line& line = found->second;
    if (!line.read_text) line.pace.record(o.gained);
    std::array<int32_t, kMaxDraftRows> path;
    size_t length = 0;
    for (int i = 0; i < line.catch_up; ++i) path[length++] = i;
    for (const int32_t row : o.acceptance->path()) {
      // Rows of another drafter's tree were never in our window; only its root, the pending token, was.
      const int window_row = row == 0 || o.draft->source == kind() ? line.window_row[size_t(row)] : -1;
      if (window_row < 0) break;
      path[length++] = window_row;
    }
    if (!line.timeline.commit({path.data(), length})) line.timeline.clear_window();
  }
}

}  // namespace outrider
