#pragma once
// Splits text into the pieces that byte-level BPE merges within. Each model family trained with one regular expression (or several in a row); they
// are few and simple, so they are matched by hand: linear in the text, without limits to run into, and sound on invalid UTF-8 (a stray byte counts as
// a symbol).
#include <string>
#include <string_view>
#include <vector>

namespace outrider {

enum class SplitRule {
  gpt2,     // 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
  qwen2,    // (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
  qwen35,   // as qwen2, with combining marks \p{M} among the letters
  llama3,   // as qwen2, with \p{N}{1,3}
  smollm,   // \p{N} first, then gpt2 on what lies between
  general,  // [\p{P}\$\+<=>\^~\|]+, then gpt2, then \p{N}+, then [0-9][0-9][0-9]
};

struct Pretokenizer {
  SplitRule rule = SplitRule::general;
  bool ignore_merges = false;  // a piece that is a token is taken as it is
  bool known = true;           // false: the name means nothing to us and the general rule stands in
};

// By the name in the model file; an empty name is «default».
Pretokenizer find_pretokenizer(std::string_view name);

// Appends the ends (byte offsets) of the pieces of `text`, in order; the last is text.size().
void split_text(SplitRule rule, std::string_view text, std::vector<size_t>& ends);

}  // namespace outrider
