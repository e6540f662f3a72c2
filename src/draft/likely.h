#pragma once
// Which tiles of the head are worth computing when a draft is written (Pass::restrict_head): the beginning of the vocabulary, since
// the ids of BPE tokens follow the order of their merges and so their frequency; the tokens that end a turn; and the tiles of every
// token seen in the text. A text that keeps bringing tokens from outside, as another language does, doubles the beginning.
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/matrix.h"

namespace outrider {

class LikelyTokens {
 public:
  struct Options {
    // A pass of one row of a 0.5B in four bits and the share of a 1.5B's tokens that it foretells, with prefixes that stay: whole 6.1 ms,
    // 85.7 %; 65536 5.2 ms, 84.2 %; 32768 4.8 ms, 82.8 %; 16384 4.6 ms, 81.5 %. With 32768 that double at 0.15: 5.0 ms, 84.3 %.
    int64_t prefix = 32768;      // tokens at the beginning of the vocabulary
    double most_outside = 0.15;  // decayed share of tokens outside above which the prefix is doubled; 1: never
  };
  // `always`: tokens that are in at any time, such as Vocabulary::end_ids. Memory is taken now for all tiles, none later.
  LikelyTokens(int64_t vocabulary, std::span<const int32_t> always, const Options& options);
  LikelyTokens(int64_t vocabulary, std::span<const int32_t> always) : LikelyTokens(vocabulary, always, Options()) {}

  // Back to the beginning, for another text.
  void clear();
  // Tokens of the prompt, then of the answer, in their order. Ids beyond the vocabulary are passed over.
  void add(std::span<const int32_t> tokens);

  std::span<const int32_t> tiles() const { return tiles_; }  // ascending
  bool contains(int32_t token) const { return token >= 0 && token < vocabulary_ && selected_[size_t(token / kernels::kTileRows)]; }
  int64_t prefix() const { return prefix_; }

 private:
  void select(int32_t tile);
  void grow_to(int64_t prefix);

  int64_t vocabulary_, prefix_ = 0;
  Options options_;
  std::vector<int32_t> always_;
  std::vector<bool> selected_;   // by tile
  std::vector<int32_t> tiles_;   // the same, as a list
  double outside_ = 0;           // decayed share of added tokens that were not in
};

}  // namespace outrider
