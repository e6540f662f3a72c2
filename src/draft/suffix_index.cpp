#include "draft/suffix_index.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace outrider {
namespace {

size_t hash(const Tail& tail, int run) {
  uint64_t h = 0x9e3779b97f4a7c15ull;
  for (int i = 0; i < run; ++i) h = (h ^ uint32_t(tail.tokens[size_t(i)])) * 0xff51afd7ed558ccdull, h ^= h >> 29;
  return size_t(h);
}

size_t places_for(int64_t capacity) { return std::bit_ceil(size_t(std::max<int64_t>(capacity, 2))); }

}  // namespace

// The tokens, and in each chain one place back and two slots for each.
size_t SuffixIndex::bytes(int64_t capacity) { return places_for(capacity) * sizeof(int32_t) * (1 + 3 * std::tuple_size_v<decltype(chains_)>); }

SuffixIndex::SuffixIndex(int64_t capacity) : tokens_(places_for(capacity)), mask_(tokens_.size() - 1) {
  for (size_t i = 0; i < chains_.size(); ++i) {
    chains_[i].run = 4 >> i;
    chains_[i].latest.assign(2 * tokens_.size(), kNone);
    chains_[i].previous.assign(tokens_.size(), kNone);
  }
}

void SuffixIndex::clear() {
  size_ = 0;
  for (Chain& c : chains_) std::fill(c.latest.begin(), c.latest.end(), kNone);
}

void SuffixIndex::append(int32_t token) {
  if (size_ == std::numeric_limits<int32_t>::max()) clear();
  const int32_t place = size_++;
  tokens_[size_t(place) & mask_] = token;
  Tail tail;
  while (tail.count < chains_[0].run && holds(place - tail.count)) tail.add_earlier(at(place - tail.count));
  for (Chain& c : chains_) {
    int32_t& previous = c.previous[size_t(place) & mask_];
    previous = kNone;
    if (tail.count >= c.run) previous = std::exchange(c.latest[hash(tail, c.run) & (c.latest.size() - 1)], place);
  }
}

void SuffixIndex::extend(Tail& tail) const {
  for (int32_t place = size_ - 1; !tail.full() && holds(place); --place) tail.add_earlier(at(place));
}

int SuffixIndex::agreement(const Tail& tail, int32_t place) const {
  int length = 0;
  while (length < tail.count && holds(place - length) && at(place - length) == tail.tokens[size_t(length)]) ++length;
  return length;
}

std::span<const SuffixIndex::Match> SuffixIndex::search(const Tail& tail, int32_t after_end, Matches& matches) const {
  size_t found = 0;
  int longest = Tail::kLongest + 1;  // what a longer chain has shown already
  for (const Chain& c : chains_) {
    if (tail.count < c.run) continue;
    int32_t place = c.latest[hash(tail, c.run) & (c.latest.size() - 1)];
    for (int seen = 0; seen < kPlaces && holds(place); ++seen, place = c.previous[size_t(place) & mask_]) {
      const int length = agreement(tail, place);
      const int32_t next = place + 1 < size_ ? at(place + 1) : after_end;
      if (length >= c.run && length < longest && next != kNone) matches[found++] = {place, next, length};
    }
    longest = c.run;
  }
  return {matches.data(), found};
}

}  // namespace outrider
