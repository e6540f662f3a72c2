#pragma once
// Byte-level BPE. It works on bytes, not on the printable characters that vocabularies write for them: each token's text is turned into its bytes once.
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/vocabulary.h"
#include "text/pretokenizer.h"
#include "text/word_cache.h"

namespace outrider {

class BpeEncoder {
 public:
  BpeEncoder(const Vocabulary& vocabulary, const Pretokenizer& pretokenizer);

  // Appends the ids of text that holds no special tokens. Bytes without a token are dropped: a few vocabularies lack
  // those that never occurred in training.
  void encode(std::string_view text, WordCache& cache, std::vector<TokenId>& out) const;

 private:
  // A symbol is a token, or (from `token_count_` on) a text that merges mention though it is no token.
  using SymbolId = uint32_t;
  static constexpr SymbolId kNone = 0xffffffff;
  struct Merge { uint32_t rank; SymbolId result; };

  // Open addressing; built once, then only read.
  class MergeTable {
   public:
    void reserve(size_t merges);
    void add(SymbolId left, SymbolId right, Merge merge);  // the first of two equal pairs stays
    const Merge* find(SymbolId left, SymbolId right) const {
      if (slots_.empty()) return nullptr;
      const uint64_t key = uint64_t(left) << 32 | right;
      for (size_t i = slot_of(key);; i = (i + 1) & (slots_.size() - 1)) {
        if (slots_[i].key == key) return &slots_[i].merge;
        if (slots_[i].key == kEmpty) return nullptr;
      }
    }

   private:
    static constexpr uint64_t kEmpty = ~uint64_t(0);
    struct Slot { uint64_t key = kEmpty; Merge merge{}; };
    size_t slot_of(uint64_t key) const { return (key * 0x9e3779b97f4a7c15u) >> shift_; }
    std::vector<Slot> slots_;
    int shift_ = 0;
  };

  using Ids = std::unordered_map<std::string, SymbolId>;  // by bytes
  SymbolId symbol(const std::string& bytes, Ids& ids);
  void add_merges(const Vocabulary& vocabulary, Ids& ids);
  void merge_word(std::string_view word, std::vector<TokenId>& out) const;
  void emit(SymbolId id, std::vector<TokenId>& out) const;

  SplitRule rule_;
  size_t token_count_;
  std::array<SymbolId, 256> byte_symbols_;
  std::vector<std::string> extra_symbols_;  // bytes of symbol token_count_ + i
  MergeTable merges_;
  Ids whole_words_;  // only for pre-tokenizers that ignore merges
};

}  // namespace outrider
