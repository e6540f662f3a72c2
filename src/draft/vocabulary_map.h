#pragma once
// Between the token ids of two models, so that one may draft for the other though their files number tokens differently: tokens that
// print the same bytes are the same. A control token is only ever the control token of the same text.
#include <string>
#include <vector>

#include "model/vocabulary.h"

namespace outrider {

struct VocabularyMap {
  std::vector<TokenId> to_target;   // by the drafter's id: the target's; -1: it has none
  std::vector<TokenId> to_drafter;  // by the target's id
  size_t target_known = 0, drafter_known = 0;  // tokens that are not padding and have a counterpart
  bool identical = false;  // every id but padding means the same in both
  std::string words;       // one line: what was found
};

VocabularyMap map_vocabularies(const Vocabulary& target, const Vocabulary& drafter);

}  // namespace outrider
