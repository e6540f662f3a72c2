#include "chat/jinja/parser.h"

#include <initializer_list>

namespace outrider::jinja {
namespace {

class Parser : ExpressionParser {
 public:
  explicit Parser(std::vector<Token> tokens) : ExpressionParser(std::move(tokens)) {}

  Body run() {
    Body body = parse_body({});
    if (!current().is(TokenKind::end)) fail_unexpected("");
    return body;
  }

 private:
  using Words = std::initializer_list<std::string_view>;
  using StatementPtr = std::unique_ptr<Statement>;

  StatementPtr make_statement(StatementKind kind) const {
    auto statement = std::make_unique<Statement>();
    statement->kind = kind;
    statement->line = current().line;
    return statement;
  }

  // Statements up to {% word with word among `ends`; stops at the word. With no ends, up to the end of the template.
  Body parse_body(Words ends) {
    const Nesting nesting(*this);
    Body body;
    for (;;) {
      if (current().is(TokenKind::data)) {
        body.push_back(make_statement(StatementKind::data));
        body.back()->text = next().text;
      } else if (current().is(TokenKind::output_begin)) {
        next();
        StatementPtr output = make_statement(StatementKind::output);
        output->expr = parse_tuple();
        if (!current().is(TokenKind::output_end)) fail_unexpected("end of print statement");
        next();
        body.push_back(std::move(output));
      } else if (current().is(TokenKind::block_begin)) {
        next();
        for (std::string_view word : ends) {
          if (current().is_name(word)) return body;
        }
        body.push_back(parse_statement());
        expect_block_end();
      } else if (current().is(TokenKind::end)) {
        if (ends.size() > 0) fail("unexpected end of template, a block is not closed: expected '" + std::string(*(ends.end() - 1)) + "'");
        return body;
      } else {
        fail_unexpected("");
      }
    }
  }

  void expect_block_end() {
    if (!current().is(TokenKind::block_end)) fail_unexpected("end of statement block");
    next();
  }

  // The rest of a tag, a body, and {% word.
  Body parse_until(std::string_view word) {
    expect_block_end();
    Body body = parse_body({word});
    next();
    return body;
  }

  StatementPtr parse_statement() {
    const std::string word = expect_name();
    if (word == "if") return parse_if();
    if (word == "for") return parse_for();
    if (word == "set") return parse_set();
    if (word == "macro") return parse_macro();
    if (word == "call") return parse_call();
    if (word == "filter") return parse_filter();
    if (word == "with") return parse_with();
    if (word == "generation") return parse_scope("endgeneration");
    if (word == "block") return parse_block();
    if (word == "break" || word == "continue") return parse_jump(word == "break");
    fail("Encountered unknown tag '" + word + "'");
  }

  StatementPtr parse_if() {
    StatementPtr node = make_statement(StatementKind::if_chain);
    for (bool otherwise = false;;) {
      Branch branch;
      if (!otherwise) branch.condition = parse_tuple(false);
      expect_block_end();
      branch.body = otherwise ? parse_body({"endif"}) : parse_body({"elif", "else", "endif"});
      node->branches.push_back(std::move(branch));
      const std::string word = next().text;
      if (word == "endif") return node;
      otherwise = word == "else";
    }
  }

  StatementPtr parse_for() {
    StatementPtr node = make_statement(StatementKind::for_loop);
    node->target = parse_assign_target(false);
    if (node->target->kind == ExprKind::name && node->target->text == "loop") fail("can't assign to the special variable 'loop'");
    if (!skip_name("in")) fail_unexpected("'in'");
    node->expr = parse_tuple(false);
    if (skip_name("if")) node->condition = parse_expression();
    node->recursive = skip_name("recursive");
    expect_block_end();
    loops_++;
    node->body = parse_body({"endfor", "else"});
    loops_--;
    if (next().text == "else") node->otherwise = parse_until("endfor");
    return node;
  }

  StatementPtr parse_set() {
    StatementPtr node = make_statement(StatementKind::set);
    node->target = parse_assign_target(true);
    if (skip_symbol("=")) {
      node->expr = parse_tuple();
      return node;
    }
    node->kind = StatementKind::set_block;
    node->expr = parse_filter_chain(nullptr, false);
    node->body = parse_until("endset");
    return node;
  }

  void parse_parameters(std::vector<Parameter>& out) {
    expect_symbol("(");
    while (!current().is_symbol(")")) {
      if (!out.empty()) expect_symbol(",");
      Parameter parameter{expect_name(), nullptr};
      if (skip_symbol("=")) parameter.fallback = parse_expression();
      else if (!out.empty() && out.back().fallback) fail("non-default argument follows default argument");
      out.push_back(std::move(parameter));
    }
    expect_symbol(")");
  }

  // A macro is a function of its own: break and continue do not reach out of it.
  void parse_function_body(Statement& node, std::string_view word) {
    const int loops = std::exchange(loops_, 0);
    std::set<std::string> outer = std::exchange(names_read_, {});
    node.body = parse_until(word);
    node.uses_varargs = names_read_.count("varargs") > 0;
    node.uses_kwargs = names_read_.count("kwargs") > 0;
    node.uses_caller = names_read_.count("caller") > 0;
    names_read_.merge(outer);
    loops_ = loops;
  }

  StatementPtr parse_macro() {
    StatementPtr node = make_statement(StatementKind::macro);
    node->text = expect_name();
    parse_parameters(node->parameters);
    parse_function_body(*node, "endmacro");
    return node;
  }

  StatementPtr parse_call() {
    StatementPtr node = make_statement(StatementKind::call_block);
    if (current().is_symbol("(")) parse_parameters(node->parameters);
    node->expr = parse_expression();
    if (node->expr->kind != ExprKind::call) fail("expected call");
    parse_function_body(*node, "endcall");
    return node;
  }

  StatementPtr parse_filter() {
    StatementPtr node = make_statement(StatementKind::filter_block);
    node->expr = parse_filter_chain(nullptr, true);
    node->body = parse_until("endfilter");
    return node;
  }

  StatementPtr parse_with() {
    StatementPtr node = make_statement(StatementKind::with);
    while (!current().is(TokenKind::block_end)) {
      if (!node->bindings.empty()) expect_symbol(",");
      ExprPtr target = parse_assign_target(false);
      expect_symbol("=");
      node->bindings.emplace_back(std::move(target), parse_expression());
    }
    node->body = parse_until("endwith");
    return node;
  }

  StatementPtr parse_scope(std::string_view end) {
    StatementPtr node = make_statement(StatementKind::scope);
    parse_function_body(*node, end);
    return node;
  }

  StatementPtr parse_block() {  // without inheritance a block is its body
    const std::string name = expect_name();
    StatementPtr node = parse_scope("endblock");
    if (current().is_name(name)) next();
    return node;
  }

  StatementPtr parse_jump(bool is_break) {
    if (loops_ == 0) fail(std::string("'") + (is_break ? "break" : "continue") + "' outside of a loop");
    return make_statement(is_break ? StatementKind::break_loop : StatementKind::continue_loop);
  }

  int loops_ = 0;  // loops around this place, within this function
};

}  // namespace

Body parse(std::string_view source) { return Parser(lex(source)).run(); }

}  // namespace outrider::jinja
