#pragma once
// Template text -> tokens. Whitespace control happens here, with trim_blocks and lstrip_blocks on, as transformers sets them:
//   the first newline after a {% %} or {# #} is dropped; blanks between the start of a line and a {% or {# are dropped;
//   «-» at either end of any tag strips all whitespace on that side, «+» switches the automatic stripping off there.
#include <string>
#include <string_view>
#include <vector>

#include "chat/jinja/value.h"

namespace outrider::jinja {

enum class TokenKind {
  data,                        // text between tags
  block_begin, block_end,      // {% %}
  output_begin, output_end,    // {{ }}
  name, string, integer, real, // text: the name, the decoded string
  symbol,                      // text: an operator or bracket
  end,
};

struct Token {
  TokenKind kind;
  std::string text;
  int64_t integer = 0;
  double real = 0;
  int line = 1;

  bool is(TokenKind k) const { return kind == k; }
  bool is_symbol(std::string_view s) const { return kind == TokenKind::symbol && text == s; }
  bool is_name(std::string_view s) const { return kind == TokenKind::name && text == s; }
};

std::vector<Token> lex(std::string_view source);  // ends with one `end` token; throws TemplateError

}  // namespace outrider::jinja
