#pragma once
// How often guesses were right, by who made them and on what evidence. Everything is counted with forgetting (each count fades by
// 0.99 whenever its class is seen again), on every emitted token, whether the guess was drafted or not: so there is no bias from
// drafting only what looks good, and what looked good and was not is found out.
//
// Sources read the same text, so their agreement is no independent proof. A guess that the set m of sources shares is judged by what
// became of such guesses before:  survival = (A[m, b] + 8 prior) / (N[m, b] + 8),  b the bucket of the largest single confidence in m.
#include <array>
#include <cstdint>
#include <vector>

#include "draft/source.h"

namespace outrider {

constexpr int kMostSources = 6;
using SourceSet = uint8_t;  // bit i: source i

class Survival {
 public:
  Survival();

  // The confidence in one source's guess on this evidence.
  float single(int source, const Guess& guess) const;
  // Of a guess that `set` shares, the most confident of which says c; `prior` is believed before any such was seen.
  float joint(SourceSet set, float c, float prior) const;

  void count_single(int source, int evidence, bool right);
  void count_joint(SourceSet set, float c, bool right);

 private:
  struct Cell {
    float right = 0, seen = 0;
    void count(bool was_right);
  };
  static constexpr int kConfidences = 12;
  static int bucket_of(float c);
  std::array<std::array<Cell, kEvidence>, kMostSources> singles_{};
  std::vector<Cell> joints_;  // [set][bucket]
};

}  // namespace outrider
