#pragma once
// Remembers how words were encoded: prose repeats its words, and a look-up is many times cheaper than merging.
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/token.h"

namespace outrider {

class WordCache {
 public:
  static constexpr size_t kMaxWordBytes = 64, kMaxWords = 1u << 16;

  const std::vector<TokenId>* find(std::string_view word) const {
    const auto found = words_.find(word);
    return found == words_.end() ? nullptr : &found->second;
  }
  // Appends the ids of the word, encoded by `merge(word, out)` when it is met for the first time.
  template <class Merge>
  void encode(std::string_view word, std::vector<TokenId>& out, Merge&& merge) {
    if (const auto* known = find(word)) {
      out.insert(out.end(), known->begin(), known->end());
      return;
    }
    const size_t first = out.size();
    merge(word, out);
    add(word, out.data() + first, out.size() - first);
  }
  void add(std::string_view word, const TokenId* ids, size_t count) {
    if (word.size() > kMaxWordBytes) return;
    if (words_.size() >= kMaxWords) words_.clear();
    words_.emplace(std::string(word), std::vector<TokenId>(ids, ids + count));
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  std::unordered_map<std::string, std::vector<TokenId>, Hash, std::equal_to<>> words_;
};

}  // namespace outrider
