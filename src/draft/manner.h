#pragma once
// How a text takes its drafts: what its own tokens taught, beyond what holds for all texts (survival.h). A text begins in the manner of
// those before it, greedy and sampled ones apart, since a sampled text follows its own past less.
#include <array>

#include "draft/survival.h"

namespace outrider {

struct Manner {
  std::array<Mood, 4> mood{};  // of the free sources' guesses, unsure ones, surer ones and the surest, and of the model's
  float trust = 0.97f;         // what a step down a tree was worth, against its survival
  float after = 0.65f;         // how likely the best guess is once the model was asked
  float gain = kGain;          // of an emitted token, tokens of plain decoding that the model saves

  static constexpr float kGain = 0.2f;  // believed of a text before any was seen
  static constexpr float kMostGain = 10;

  void archive(Archive& archive);
};

// Of texts of one kind.
class UsualManner {
 public:
  const Manner& get() const { return usual_; }
  // A text of so many tokens has ended in this manner. Where the model was not asked, nothing was learned of it, and what was believed
  // fades: it is given another chance from time to time.
  void learn(const Manner& manner, int64_t tokens, bool model_asked);
  void archive(Archive& archive) { usual_.archive(archive); }

 private:
  Manner usual_;
};

}  // namespace outrider
