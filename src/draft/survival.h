#pragma once
// How often guesses were right, by who made them and on what evidence. Everything is counted with forgetting (each count fades by
// 0.99 whenever its class is seen again), on every emitted token, whether the guess was drafted or not: so there is no bias from
// drafting only what looks good, and what looked good and was not is found out.
//
// Sources read the same text, so their agreement is no independent proof, nor is their quarrel even. A guess that the set m of sources
// shares with confidence c (the largest single one), against a rival guess of confidence d, is judged by what became of such before:
//   survival = (A[m, c, d] + w·prior) / (N[m, c, d] + w),  w = 24 at first, less the larger N is.
#include <array>
#include <cstdint>
#include <vector>

#include "base/archive.h"
#include "draft/source.h"

namespace outrider {

constexpr int kMostSources = 6;
using SourceSet = uint8_t;  // bit i: source i

class Survival {
 public:
  Survival();

  // The confidence in one source's guess on this evidence.
  float single(int source, const Guess& guess) const;
  // Of a guess that `set` shares; `prior` is believed before any such was seen.
  float joint(SourceSet set, float c, float rival, float prior) const;

  void count_single(int source, int evidence, bool right);
  void count_joint(SourceSet set, float c, float rival, bool right);
  void archive(Archive& archive);  // the counts, between runs

 private:
  struct Cell {
    float right = 0, seen = 0;
    void count(bool was_right);
    float estimate(float prior) const;
    void archive(Archive& archive);
  };
  static constexpr int kConfidences = 12, kRivals = 4;
  static size_t joint_cell(SourceSet set, float c, float rival);
  std::array<std::array<Cell, kEvidence>, kMostSources> singles_{};
  std::vector<Cell> joints_;  // [set][confidence][rival]
};

// How one text suits those who guess, against what was usual: a constant added to the log odds of their guesses, learned by logistic
// regression on every emitted token, in steps that become smaller the more the tokens have told. It follows a change of text within
// tens of tokens, where the counts need hundreds.
class Mood {
 public:
  float shifted(float p) const;
  void learn(float shifted_p, bool right);
  // Towards another's, 0 … 1.
  void near(const Mood& other, float share) { by_ += share * (other.by_ - by_); }
  void archive(Archive& archive);

 private:
  float by_ = 0;
  float told_ = 0;  // Σ p (1 − p) of its guesses, lately: what they could tell
};

}  // namespace outrider
