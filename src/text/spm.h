#pragma once
// SentencePiece by scores: among all adjacent pairs whose joined text is a token, the best-scored is joined first, over and over.
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/vocabulary.h"
#include "text/word_cache.h"

namespace outrider {

class SpmEncoder {
 public:
  explicit SpmEncoder(const Vocabulary& vocabulary);

  // Appends the ids of text that holds no special tokens. Characters without a token become byte tokens.
  void encode(std::string_view text, bool space_prefix, WordCache& cache, std::vector<TokenId>& out) const;

 private:
  struct Piece { TokenId id; float score; };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  bool splits_at(std::string_view text, size_t at) const;
  void merge_word(std::string_view word, std::vector<TokenId>& out) const;
  void emit(std::string_view symbol, std::vector<TokenId>& out) const;

  std::unordered_map<std::string, Piece, Hash, std::equal_to<>> pieces_;
  std::array<TokenId, 256> byte_ids_;  // −1: no such token
  std::optional<TokenId> unknown_;
  // Tokens with a space after something else. Words can be encoded one by one except where one of these occurs across their border.
  struct Crossing { std::string text; std::vector<size_t> borders; };
  std::vector<Crossing> crossing_;
};

}  // namespace outrider
