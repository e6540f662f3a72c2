#pragma once
// What the tokens of a round were drawn from, kept until the next round: acceptance by rejection (sample/reject.h) needs it.
#include <array>
#include <memory>

#include "sample/accept.h"
#include "sample/sampler.h"

namespace outrider {

class DrawnRows {
 public:
  // Whole rows that fit, at 8 bytes a token: 9.7 MB for a vocabulary of 152k, touched only as far as rows reach. Rows that top-k or
  // top-p has cut are far shorter, and a round rarely draws more than eight.
  static constexpr size_t kWholeRows = 8;
  explicit DrawnRows(size_t vocabulary) : vocabulary_(vocabulary), space_(std::make_unique_for_overwrite<TokenProbability[]>(kWholeRows * vocabulary)) {}

  static size_t bytes(size_t vocabulary) { return kWholeRows * vocabulary * sizeof(TokenProbability); }

  void clear() { count_ = 0; }
  // Whether another row fits, however long: known before it is drawn from.
  bool room() const { return count_ < ends_.size() && kWholeRows * vocabulary_ - end() >= vocabulary_; }
  Distribution add(Sampler& sampler, std::span<const float> logits, std::span<const int32_t> history, std::span<const int32_t> ancestors) {
    OUTRIDER_CHECK(room());
    const size_t first = end();
    const Distribution row = sampler.distribution(logits, history, ancestors, {space_.get() + first, vocabulary_});
    ends_[count_++] = first + row.size();
    return row;
  }
  Distribution at(size_t place) const {
    OUTRIDER_CHECK(place < count_);
    const size_t first = place > 0 ? ends_[place - 1] : 0;
    return {space_.get() + first, ends_[place] - first};
  }

 private:
  size_t end() const { return count_ > 0 ? ends_[count_ - 1] : 0; }
  size_t vocabulary_, count_ = 0;
  std::unique_ptr<TokenProbability[]> space_;
  std::array<size_t, kMaxDraftRows> ends_;  // of row i in space_
};

}  // namespace outrider
