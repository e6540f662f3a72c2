#pragma once
// Finds the tokens that are matched in raw text before anything else: control tokens where the caller allows them, user-defined ones everywhere.
#include <string>
#include <string_view>
#include <vector>

#include "model/vocabulary.h"

namespace outrider {

class SpecialTokens {
 public:
  explicit SpecialTokens(const Vocabulary& vocabulary);

  struct Fragment {
    size_t begin, end;  // bytes of the text
    TokenId token;      // −1: ordinary text
  };
  // A stretch of the text in which control tokens may be read. Stretches are in order and do not touch.
  struct Allowed { size_t begin, end; };

  // The whole text, cut into special tokens and what lies between. Longer tokens are looked for first, each from left to right.
  std::vector<Fragment> partition(std::string_view text, const std::vector<Allowed>& allowed) const;

 private:
  struct Special { std::string text; TokenId id; bool restricted; };  // restricted: control or unknown
  struct TrieNode { std::vector<std::pair<uint8_t, uint32_t>> children; int32_t special = -1; };

  std::vector<bool> occurring(std::string_view text) const;
  void cut(const Special& special, std::string_view text, const std::vector<Allowed>& allowed, std::vector<Fragment>& fragments) const;

  std::vector<Special> specials_;  // longest first
  std::vector<TrieNode> trie_;
  std::vector<uint32_t> roots_;    // node after the first byte; 0: none
};

}  // namespace outrider
