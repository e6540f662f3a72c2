#pragma once
// Tokens → text as it may be shown: never half a character, never a part of a stop string. What comes out does not depend on how the text was cut
// into tokens.
#include <optional>
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

  bool stopped() const { return stop_.has_value(); }
  // Index of the stop string that ended the text.
  std::optional<size_t> stop() const { return stop_; }
  size_t held_bytes() const { return pending_.size(); }

 private:
  size_t undecided_tail() const;

  const Tokenizer* tokenizer_;
  std::vector<std::string> stops_;
  bool special_;
  std::string pending_;  // bytes not given out yet
  std::optional<size_t> stop_;
};

}  // namespace outrider
