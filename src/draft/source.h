#pragma once
// A source of guesses that costs next to nothing: given a place in a text, it names tokens that may follow there. It is asked at
// every place of a draft tree, and also, in shadow, at every token that was emitted, used or not: so its evidence is judged by
// counting (survival.h) and not by what it believes of itself.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "sample/top.h"

namespace outrider {

// One guess. `evidence` is the source's own class of how it came by it (match length, rank, share …), below kEvidence; guesses of a
// class are counted together. `prior` is the probability to believe in before anything was counted.
struct Guess {
  int32_t token = 0;
  int evidence = 0;
  float prior = 0;
};

constexpr int kEvidence = 64;    // classes a source may tell apart
constexpr int kMostGuesses = 4;  // guesses at one place

struct Guesses {
  std::array<Guess, kMostGuesses> list;
  int count = 0;
  std::span<const Guess> all() const { return {list.data(), size_t(count)}; }
  std::span<const Guess> best(int most) const { return all().first(size_t(std::min(most, count))); }
  void add(Guess guess) {
    if (count < kMostGuesses) list[size_t(count++)] = guess;
  }
};

// Knows where the answer's rules leave one token only. Given from above; it follows the emitted text itself.
class Foresight {
 public:
  virtual ~Foresight() = default;
  // The only token that may follow the text and then `drafted`; -1 where the choice is open. Constant time a drafted token,
  // allocates nothing.
  virtual int32_t only_choice(std::span<const int32_t> drafted) const = 0;
};

// What a source is told of a request.
struct SourceRequest {
  std::span<const int32_t> prompt;
  std::span<const int32_t> prediction;  // what the caller expects the answer to be; may be empty
  int64_t context = 4096;               // tokens of prompt and answer at most: memory may be taken for them now, none later
  const Foresight* foresight = nullptr;  // lives as long as the reader
};

// What a source knows of one request. The text begins with the prompt.
class Reader {
 public:
  virtual ~Reader() = default;
  // Tokens that were emitted; the prompt, which the reader was opened with, is none. Amortised constant time a token.
  virtual void append(std::span<const int32_t> tokens) = 0;
  // Distinct guesses at what follows the text and then `drafted` (the path down a draft tree, at most 31 tokens), best first.
  // Constant time, allocates nothing.
  virtual void guess(std::span<const int32_t> drafted, Guesses& out) const = 0;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual std::string_view name() const = 0;
  // Null with a reason: this source has nothing for this request (no prediction was given, no memory).
  virtual Result<std::unique_ptr<Reader>> open(const SourceRequest& request) = 0;
  // The target computed what follows `previous`, `token` (previous = -1 at the start of a text). For sources that remember it.
  virtual void learn(int32_t previous, int32_t token, const TopTokens& top) { (void)previous, (void)token, (void)top; }
  virtual bool learns() const { return false; }
};

}  // namespace outrider
