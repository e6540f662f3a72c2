#include "draft/blend.h"

#include <algorithm>

#include "base/check.h"

namespace outrider {

namespace {
constexpr double kPromise = 0.03, kCarefulPromise = 0.15;  // tokens a round
constexpr float kTrustRate = 0.02f;
constexpr float kGainBelieved = 6;  // tokens that the usual gain counts for, before the model has read the text
constexpr float kGainRate = 0.025f, kForgetRate = 0.01f;  // of what the model brings; a token of rounds where it was asked, and where it was not
}

Blend::Blend(std::vector<std::unique_ptr<Source>> sources, std::unique_ptr<ModelWriter> model, const Clock& clock, Options options)
    : clock_(clock), sources_(std::move(sources)), model_(std::move(model)), options_(options), grower_(options.requests) {
  OUTRIDER_CHECK(int(sources_.size()) + (model_ ? 1 : 0) <= kMostSources);
  for (const std::string& name : this->sources()) kind_ += (kind_.empty() ? "" : "+") + name;
  for (const auto& source : sources_) learns_ |= source->learns();
  for (size_t k = 0; k < options_.each.size(); ++k) shares_.most[k] = options_.each[k].max;
  asks_.reserve(size_t(options.requests)), asking_.reserve(size_t(options.requests));
}

std::vector<std::string> Blend::sources() const {
  std::vector<std::string> names;
  for (const auto& source : sources_) names.emplace_back(source->name());
  if (model_) names.emplace_back("model");
  return names;
}

Result<void> Blend::begin(int64_t request, const DraftRequest& about) {
  Line line;
  line.chain = about.by_rejection, line.sampled = !about.sampling.greedy();
  line.manner = usual_of(line);
  line.known = int64_t(about.prompt.size());  // which readers are opened with
  const SourceRequest wanted{.prompt = about.prompt, .prediction = about.prediction, .context = options_.context};
  bool any = false;
  for (const auto& source : sources_) {
    auto reader = source->open(wanted);
    line.readers.push_back(reader ? std::move(*reader) : nullptr);
    any |= line.readers.back() != nullptr;
  }
  if (model_) {
    const auto began = model_->begin(request, about.prompt, about.sampling, line.chain);
    if (!began && !any) return began;
    line.with_model = began.ok();
  }
  lines_.emplace(request, std::move(line));
  return {};
}

void Blend::end(int64_t request) {
  if (model_) model_->end(request);
  const auto found = lines_.find(request);
  if (found == lines_.end()) return;
  const Line& line = found->second;
  usual_[size_t(line.sampled)].learn(line.manner, line.emitted, line.asked_ever);
  lines_.erase(found);
}

// Brings the readers up to the pending token.
void Blend::follow(Line& line, std::span<const int32_t> committed, int32_t pending) const {
  if (line.known > int64_t(committed.size())) return;
  for (auto& reader : line.readers) {
    if (!reader) continue;
    reader->append(committed.subspan(size_t(line.known)));
    reader->append({&pending, 1});
  }
  line.known = int64_t(committed.size()) + 1;
}

// A round may not stake more than what may be lost, the model's answers included; at the end of that, only rows that cost nothing are
// drafted.
void Blend::limit(std::span<DraftJob> jobs, const DraftBudget& budget) const {
  for (DraftJob& job : jobs) {
    job.budget = std::min(job.budget, options_.limits.max);
    if (budget.free()) continue;
    const double plain_ms = budget.pass_ms(0), stake_ms = std::max(job.reserve_ms - lines_.at(job.request).asked_ms, 0.01 * plain_ms);
    int rows = job.budget;
    while (rows > 0 && budget.pass_ms(rows) > plain_ms + stake_ms) --rows;
    job.budget = rows;
  }
}

// Who has fewer rows than it should loses them, which may leave others with too few.
void Blend::drop_short(Draft& draft) const {
  for (bool again = true; std::exchange(again, false);)
    for (int k = 0; k < int(options_.each.size()); ++k)
      if (const int rows = draft.rows_of(k); rows > 0 && rows < options_.each[size_t(k)].min) draft.drop(k), again = true;
  if (draft.size() < options_.limits.min) draft.cut(0);
}

DraftEffort Blend::propose(std::span<DraftJob> jobs, const DraftBudget& offered) {
  const DraftBudget budget = options_.automatic ? offered : DraftBudget{};
  for (DraftJob& job : jobs) {
    Line& line = lines_.at(job.request);
    follow(line, job.tokens, job.pending);
    line.asked.count = 0, line.gain = line.asked_ms = 0, line.reach = line.unasked_reach = 1;
    job.draft->reset(job.pending, line.manner.trust);
  }
  limit(jobs, budget);
  const DraftEffort effort = model_ ? write(jobs, budget) : DraftEffort{};
  limit(jobs, budget);
  std::array<int32_t, kMaxDraftRows> path;
  const bool careful = std::ranges::any_of(jobs, [](const DraftJob& job) { return job.spare_ms <= 0; });
  const double promise = careful ? kCarefulPromise : kPromise;
  const auto chains = std::ranges::partition(jobs, [&](const DraftJob& job) { return !lines_.at(job.request).chain; });
  for (DraftJob& job : chains) grow_chain(job, budget, promise);
  const auto trees = jobs.first(jobs.size() - chains.size());
  grower_.grow(trees, budget, {.width = options_.width, .promise = promise, .paid = model_ ? model_bit() : SourceSet(0), .shares = shares_}, [&](int j, int row) {
    const DraftJob& job = trees[size_t(j)];
    const Line& line = lines_.at(job.request);
    const auto place = job.draft->tree.path_tokens(row, path).subspan(1);
    return judge(line, place, line.asked.at(place));
  });
  for (DraftJob& job : trees) drop_short(*job.draft);
  return effort;
}

void Blend::observe(std::span<const DraftOutcome> outcomes) {
  for (const DraftOutcome& o : outcomes) {
    const auto found = lines_.find(o.request);
    if (found == lines_.end()) continue;
    Line& line = found->second;
    follow(line, o.tokens, o.draft->tree.tokens[0]);
    learn(line, o);
    if (line.with_model) model_->observe(o.request, line.asked.path(std::max(0, line.asked.count - 1)), o);
  }
}

// Every emitted token is a test of every source, whether its guess was drafted or not; then they hear of it.
void Blend::learn(Line& line, const DraftOutcome& o) {
  const DraftTree& tree = o.draft->tree;
  std::array<int32_t, kMaxDraftRows> emitted;
  int count = 0;
  for (const int32_t row : o.acceptance->path().subspan(1)) emitted[size_t(count++)] = tree.tokens[size_t(row)];
  emitted[size_t(count++)] = o.acceptance->next;
  const float promised = float(o.draft->expected_tokens() - 1);
  line.manner.trust = std::clamp(line.manner.trust * (1 + kTrustRate * (float(count - 1) - promised) / (1 + promised)), 0.75f, 1.05f);
  for (int i = 0; i < count; ++i) score(line, {emitted.data(), size_t(i)}, emitted[size_t(i)]);
  learn_gain(line, float(count));
  if (learns_ && !o.top.empty()) {
    for (int row = 0; row < tree.size; ++row) {
      const int32_t previous = row > 0 ? tree.tokens[size_t(tree.parents[size_t(row)])] : o.tokens.empty() ? -1 : o.tokens.back();
      for (const auto& source : sources_) source->learn(previous, tree.tokens[size_t(row)], o.top[size_t(row)]);
    }
  }
  for (auto& reader : line.readers)
    if (reader) reader->append({emitted.data(), size_t(count)});
  line.known += count, line.emitted += count;
}

// What the model brings in this text, of `count` emitted tokens. Before it has read the text that is what its answers are expected to
// have added; then what they were seen to add.
void Blend::learn_gain(Line& line, float count) const {
  float& gain = line.manner.gain;
  const float usual = usual_of(line).gain;
  Prelude& prelude = line.prelude;
  if (!prelude.over && prelude.hope >= 0) {
    const float hope = float(prelude.hope);
    ++prelude.rounds, prelude.added += hope, prelude.emitted += count + hope;
    gain = (kGainBelieved * usual + prelude.added) / (kGainBelieved + prelude.emitted);
  } else if (line.asked.count > 0) {
    gain = std::clamp(gain + kGainRate * (float(line.gain) - count * gain), -Manner::kMostGain, Manner::kMostGain);
  } else {
    gain += kForgetRate * count * (usual - gain);
  }
  line.gain = 0, prelude.hope = -1;
}

void Blend::archive(Archive& archive) {
  survival_.archive(archive);
  for (UsualManner& usual : usual_) usual.archive(archive);
  for (Answered& a : answered_) {
    Answered read = a;
    archive.value(read);
    a = read.sum >= 0 && read.sum <= read.seen && read.seen <= 1 / (1 - kAnsweredFade) + 1 ? read : Answered();
  }
  if (model_) model_->archive(archive);
}

}  // namespace outrider
