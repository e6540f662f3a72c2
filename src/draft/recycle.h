#pragma once
// Guesses what the target itself found most probable when it last stood behind the same two tokens, or the same one (Token
// Recycling, arXiv:2408.08696): the rows of rejected guesses are not wasted. One memory for all requests.
#include <array>
#include <cstdint>
#include <vector>

#include "draft/source.h"

namespace outrider {

class RecycleSource final : public Source {
 public:
  struct Options {
    int pairs = 1 << 16, tokens = 1 << 15;  // places remembered, 48 bytes each; powers of two
  };
  RecycleSource() : RecycleSource(Options()) {}
  explicit RecycleSource(Options options) : pairs_(options.pairs), tokens_(options.tokens) {}

  static size_t bytes(Options options) { return size_t(options.pairs + options.tokens) * sizeof(Place); }
  std::string_view name() const override { return "recycle"; }
  // Readers must not outlive the source.
  Result<std::unique_ptr<Reader>> open(const SourceRequest& request) override;
  void learn(int32_t previous, int32_t token, const TopTokens& top) override;
  bool learns() const override { return true; }

  // What may follow these two tokens; previous = -1 at the start of a text.
  void recall(int32_t previous, int32_t token, Guesses& out) const;

 private:
  // What the target thought behind one key, the older the less.
  struct Place {
    uint64_t key = 0;  // 0: free
    std::array<int32_t, kMostGuesses> token{};
    std::array<float, kMostGuesses> probability{};  // descending; token[i] counts where it is > 0
    int32_t confirmed = 0;                          // times in a row that token[0] came first again

    void learn(const TopTokens& top);
  };
  class Table {
   public:
    explicit Table(int places) : places_(size_t(places)) {}
    // Of two keys that fall into one slot the newest stays.
    void learn(uint64_t key, const TopTokens& top);
    const Place* find(uint64_t key) const;

   private:
    size_t slot(uint64_t key) const { return size_t((key * 0x9e3779b97f4a7c15ull) >> 32) & (places_.size() - 1); }
    std::vector<Place> places_;
  };

  Table pairs_, tokens_;
};

}  // namespace outrider
