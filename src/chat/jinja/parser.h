#pragma once
// Tokens -> tree. Follows the precedence of the language's reference implementation, its quirks included (a filter after «-x» applies to
// -x).
#include <set>
#include <string_view>

#include "chat/jinja/ast.h"
#include "chat/jinja/lexer.h"

namespace outrider::jinja {

Body parse(std::string_view source);  // throws TemplateError

// The expression half; the statement half (parser.cpp) derives from it.
class ExpressionParser {
 protected:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  Token next() { return tokens_[at_].is(TokenKind::end) ? tokens_[at_] : tokens_[at_++]; }
  bool skip_symbol(std::string_view s);
  bool skip_name(std::string_view s);
  void expect_symbol(std::string_view s);
  std::string expect_name();
  [[noreturn]] void fail(const std::string& message) const { throw TemplateError{message, current().line}; }
  [[noreturn]] void fail_unexpected(const std::string& expected) const;

  ExprPtr parse_expression(bool with_conditional = true);
  // An expression, or a tuple of them when commas follow.
  ExprPtr parse_tuple(bool with_conditional = true);
  ExprPtr parse_filter_chain(ExprPtr node, bool started);
  ExprPtr parse_assign_target(bool with_attribute);
  ExprPtr parse_unary(bool with_filter = true);
  ExprPtr make(ExprKind kind, std::vector<ExprPtr> parts, std::string text = "");
  ExprPtr finish(ExprPtr node);  // sets the depth

  std::set<std::string> names_read_;  // since the innermost function began

  // Bounds the recursion of the parser itself.
  struct Nesting {
    explicit Nesting(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxTreeDepth) parser_.fail("the template is nested too deeply");
    }
    ~Nesting() { parser_.nesting_--; }
    ExpressionParser& parser_;
  };

 private:
  ExprPtr parse_or();
  ExprPtr parse_and();
  ExprPtr parse_not();
  ExprPtr parse_compare();
  ExprPtr parse_sum();
  ExprPtr parse_concat();
  ExprPtr parse_product();
  ExprPtr parse_power();
  ExprPtr parse_primary();
  ExprPtr parse_dict();
  ExprPtr parse_postfix(ExprPtr node);
  ExprPtr parse_subscript(ExprPtr node);
  ExprPtr parse_slice();
  ExprPtr parse_test(ExprPtr node);
  void parse_arguments(CallArguments& out);
  bool at_tuple_end() const;

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace outrider::jinja
