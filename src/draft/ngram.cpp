#include "draft/ngram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace outrider {

namespace {

constexpr int kCandidates = 64;  // earlier places looked at for one match

}  // namespace

Result<void> NgramDrafter::begin(int64_t request, std::span<const int32_t> prompt, const SamplingSettings&) {
  Corpus& corpus = corpora_[request];
  corpus = Corpus();
  const size_t tokens = std::max(size_t(options_.context), prompt.size()) + kMaxDraftRows;
  corpus.tokens.reserve(tokens), corpus.previous.reserve(tokens);
  corpus.latest.assign(std::bit_ceil(2 * tokens), -1);
  for (const int32_t token : prompt) append(corpus, token);
  return {};
}

void NgramDrafter::end(int64_t request) { corpora_.erase(request); }

void NgramDrafter::append(Corpus& c, int32_t token) const {
  c.tokens.push_back(token);
  c.previous.push_back(-1);
  const int n = options_.shortest_match, at = int(c.tokens.size()) - 1;
  if (at + 1 < n) return;
  uint64_t hash = 0x9e3779b97f4a7c15ull;
  for (int i = at + 1 - n; i <= at; ++i) hash = (hash ^ uint32_t(c.tokens[size_t(i)])) * 0xff51afd7ed558ccdull, hash ^= hash >> 29;
  c.previous.back() = std::exchange(c.latest[hash & (c.latest.size() - 1)], at);
}

// Brings the corpus up to the job's tokens and its pending one.
void NgramDrafter::follow(Corpus& c, const DraftJob& job) const {
  while (c.tokens.size() < job.tokens.size()) append(c, job.tokens[c.tokens.size()]);
  if (c.tokens.size() == job.tokens.size()) append(c, job.pending);
}

void NgramDrafter::look_up(Corpus& c) const {
  const int end = int(c.tokens.size()) - 1;
  c.match = 0, c.proposed_from = -1;
  int tried = 0;
  for (int at = end >= 0 ? c.previous[size_t(end)] : -1; at >= 0 && tried < kCandidates; at = c.previous[size_t(at)], ++tried) {
    int length = 0;
    while (length < options_.longest_match && length <= at && c.tokens[size_t(at - length)] == c.tokens[size_t(end - length)]) ++length;
    if (length >= options_.shortest_match && length > c.match) c.match = length, c.proposed_from = at + 1;
    if (length == options_.longest_match) break;
  }
}

int NgramDrafter::match_length(const DraftJob& job) {
  Corpus& c = corpora_[job.request];
  follow(c, job);
  look_up(c);
  return c.match;
}

void NgramDrafter::propose(std::span<DraftJob> jobs) {
  for (DraftJob& job : jobs) {
    Corpus& c = corpora_[job.request];
    follow(c, job);
    look_up(c);
    if (c.match == 0 || (options_.limits.paced && !c.pace.open())) continue;
    // Long matches and recent success earn long drafts; a wrong row costs the target time.
    const int earned = std::max(int(std::ceil(2 * c.trust)) + 1, c.match >= 2 * options_.shortest_match ? c.match / 2 : 1);
    const int count = std::min({options_.limits.max, job.budget, earned, int(c.tokens.size()) - c.proposed_from});
    if (count < options_.limits.min) continue;
    const float p = float(c.match) / float(c.match + 2);
    for (int i = 0, parent = 0; i < count; ++i) parent = job.draft->add(c.tokens[size_t(c.proposed_from + i)], parent, p);
    if (count > 0) job.draft->source = kind();
  }
}

void NgramDrafter::observe(std::span<const DraftOutcome> outcomes) {
  for (const DraftOutcome& o : outcomes) {
    if (o.draft->source != kind()) continue;
    Corpus& c = corpora_[o.request];
    c.trust = 0.7f * c.trust + 0.3f * float(o.acceptance->accepted());
    c.pace.record(o.gained);
  }
}

}  // namespace outrider
