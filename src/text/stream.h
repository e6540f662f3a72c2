#pragma once
// Tokens → text as it may be shown: never half a character, never a part of a stop string. What comes out does not depend on how the text was cut
// into tokens.
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace outrider {

class TextStream {
 public:
  // Empty stop strings are ignored. `special`: control tokens are shown as text.
  TextStream(const Tokenizer& tokenizer, std::vector<std::string> stops, bool special = false);

  // The text that has become certain, valid UTF-8. After a stop string was completed, nothing more.
  std::string push(TokenId id) { return push_bytes(tokenizer_->piece(id, special_)); }
  std::string push_bytes(std::string_view bytes);

  // The end: gives what was held back. A character that stayed incomplete becomes U+FFFD.
  std::string flush();

  // Whose the text is that the last call gave: part i reaches from the end of the one before it to `end`. Pushes are numbered from 0; a
  // character of several is of the first.
  struct Part {
    size_t end, push;
  };
  std::span<const Part> parts() const { return parts_; }

  bool stopped() const { return stop_.has_value(); }
  // Index of the stop string that ended the text.
  std::optional<size_t> stop() const { return stop_; }
  size_t held_bytes() const { return pending_.size(); }

 private:
  size_t undecided_tail() const;
  std::string give(size_t ready);

  const Tokenizer* tokenizer_;
  std::vector<std::string> stops_;
  bool special_;
  std::string pending_;  // bytes not given out yet
  std::deque<Part> pushed_;  // whose they are, by the ends in pending_
  std::vector<Part> parts_;
  size_t pushes_ = 0;
  std::optional<size_t> stop_;
};

}  // namespace outrider
