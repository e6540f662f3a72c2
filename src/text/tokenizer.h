#pragma once
// Text ↔ token ids, for both kinds of vocabulary.
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token.h"
#include "model/vocabulary.h"

namespace outrider {

// A part of a prompt and where it came from: only what a template wrote (or what a user marked as raw) may hold control tokens.
struct TextSegment {
  std::string_view text;
  bool specials_allowed = false;
};

struct EncodeOptions {
  bool parse_special = false;  // control tokens written in the text are read as such
  bool add_special = false;    // put BOS before and EOS after, if the model file asks for them and they are not there yet
};

// May be used by several threads at once.
class Tokenizer {
 public:
  static Result<Tokenizer> make(const Vocabulary& vocabulary);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // The segments are one text: words may reach across their borders, control tokens may not.
  std::vector<TokenId> encode(std::span<const TextSegment> segments, bool add_special) const;

  // The bytes a token stands for, perhaps a part of a character. Control tokens are empty unless `special`. Lives as long as the tokenizer.
  std::string_view piece(TokenId id, bool special = false) const;
  std::string decode(std::span<const TokenId> ids, bool special = false) const;

  size_t size() const;

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace outrider
