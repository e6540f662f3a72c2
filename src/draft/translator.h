#pragma once
// The target's text in the tokens of a drafting model that numbers them otherwise, and its logits in the target's. A token without a
// counterpart is spelled with the drafter's tokens for its bytes, the longest first; what can't be spelled is left out of the text.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "draft/vocabulary_map.h"

namespace outrider {

class Translator {
 public:
  static constexpr size_t kMostPieces = 8;  // tokens that one may become; longer ones are left out

  // `target_rows`: length of a row of the target's logits; `map` is that of these two.
  Translator(const VocabularyMap& map, const Vocabulary& target, const Vocabulary& drafter, int64_t target_rows);
  Translator(const Vocabulary& target, const Vocabulary& drafter, int64_t target_rows) : Translator(map_vocabularies(target, drafter), target, drafter, target_rows) {}
  // Null where both number their tokens alike.
  static std::unique_ptr<const Translator> between(const Vocabulary& target, const Vocabulary& drafter, int64_t target_rows);
  static size_t bytes(const Vocabulary& target, const Vocabulary& drafter);  // about

  // The drafter's tokens for one of the target's; none where it has none.
  std::span<const int32_t> read(int32_t token) const;
  // A text that begins so, behind what the drafter expects at the start of any; memory is taken for `context` tokens of the target's.
  std::vector<int32_t> open(std::span<const int32_t> tokens, int64_t context) const;
  void append(int32_t token, std::vector<int32_t>& text) const;

  // A row of the drafter's logits as one of the target's: −∞ where it has no token.
  void scatter(std::span<const float> logits, std::span<float> row) const;
  int64_t target_rows() const { return target_rows_; }
  std::span<const int32_t> target_padding() const { return target_padding_; }

 private:
  int64_t target_rows_;
  int32_t opening_ = -1;
  std::vector<int32_t> to_target_;  // by the drafter's id, -1: none
  std::vector<uint32_t> first_;     // by the target's id: where its pieces begin, and one more
  std::vector<int32_t> pieces_;
  std::vector<int32_t> target_padding_;
};

}  // namespace outrider
