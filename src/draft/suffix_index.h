#pragma once
// Where the last tokens of a text stood before. The ends of all one-, two- and four-token runs are chained by hash, latest first; a
// search walks the chains and counts how far each earlier place agrees with the tail it is given.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace outrider {

// The last tokens of a text, latest first.
struct Tail {
  static constexpr int kLongest = 32;  // agreement beyond this many tokens tells nothing more
  std::array<int32_t, kLongest> tokens;
  int count = 0;

  bool full() const { return count == kLongest; }
  void add_earlier(int32_t token) { tokens[size_t(count++)] = token; }
};

class SuffixIndex {
 public:
  static constexpr int32_t kNone = -1;  // agrees with nothing: a border between texts
  struct Match {
    int32_t place;  // of the last token that agrees
    int32_t next;   // the token that followed
    int length;     // tokens that agree
  };
  static constexpr int kPlaces = 16;  // looked at in each chain
  using Matches = std::array<Match, 3 * kPlaces>;

  // Remembers the latest `capacity` tokens, rounded up to a power of two. No memory is taken later.
  explicit SuffixIndex(int64_t capacity);
  static size_t bytes(int64_t capacity);
  void append(int32_t token);
  void clear();
  int32_t size() const { return size_; }  // tokens appended so far: places are numbered below it
  bool holds(int32_t place) const { return place >= 0 && place < size_ && size_ - place <= int32_t(tokens_.size()); }
  int32_t at(int32_t place) const { return tokens_[size_t(place) & mask_]; }

  // Adds the latest tokens of the text behind those that the tail has.
  void extend(Tail& tail) const;
  // Earlier places that end like `tail`, each once, those of the longest chain first; `after_end` is what follows the text, or kNone.
  // A place that nothing follows is left out.
  std::span<const Match> search(const Tail& tail, int32_t after_end, Matches& matches) const;

 private:
  struct Chain {
    int run;                        // tokens hashed; places that agree in fewer are another run's or a collision
    std::vector<int32_t> latest;    // by slot: the latest place whose run fell into it, or kNone
    std::vector<int32_t> previous;  // by place: the one before it in the same slot, or kNone
  };
  int agreement(const Tail& tail, int32_t place) const;

  std::vector<int32_t> tokens_;  // ring by place
  size_t mask_;
  int32_t size_ = 0;
  std::array<Chain, 3> chains_;
};

}  // namespace outrider
