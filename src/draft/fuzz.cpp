#include "draft/fuzz.h"

#include <algorithm>

namespace outrider {

uint64_t FuzzDrafter::random() {  // splitmix64
  uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

Result<void> FuzzDrafter::begin(int64_t request, const DraftRequest& about) {
  prompt_tokens_[request] = about.prompt.size();
  return {};
}

// A token for a row at `depth` below the root: often the true one there, sometimes a true one of another place, else anything.
int32_t FuzzDrafter::token(const DraftJob& job, int depth) {
  const size_t answered = job.tokens.size() - std::min(job.tokens.size(), prompt_tokens_[job.request]);  // committed; the pending one follows
  const size_t at = answered + size_t(depth);
  switch (random() % 8) {
    case 0: return int32_t(random() % uint64_t(vocabulary_));
    case 1: return job.tokens.empty() ? 0 : job.tokens[random() % job.tokens.size()];
    case 2: return truth_.empty() ? job.pending : truth_[random() % truth_.size()];
    default: return at < truth_.size() ? truth_[at] : job.pending;
  }
}

DraftEffort FuzzDrafter::propose(std::span<DraftJob> jobs, const DraftBudget&) {
  for (DraftJob& job : jobs) {
    const int rows = int(random() % uint64_t(job.budget + 1));
    const bool chain = random() % 3 == 0;
    for (int i = 0; i < rows; ++i) {
      const DraftTree& tree = job.draft->tree;
      const int last = tree.size - 1;
      const int parent = chain || random() % 2 ? last : int(random() % uint64_t(tree.size));
      int32_t t = token(job, tree.depth(parent) + 1);
      if (random() % 10 == 0 && last > 0) t = tree.tokens[size_t(last)];  // a duplicate
      job.draft->add(t, parent, 0.5f, 0);
    }
  }
  return {};
}

}  // namespace outrider
