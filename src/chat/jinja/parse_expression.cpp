#include <algorithm>

#include "chat/jinja/parser.h"

namespace outrider::jinja {

bool ExpressionParser::skip_symbol(std::string_view s) {
  if (!current().is_symbol(s)) return false;
  next();
  return true;
}

bool ExpressionParser::skip_name(std::string_view s) {
  if (!current().is_name(s)) return false;
  next();
  return true;
}

void ExpressionParser::fail_unexpected(const std::string& expected) const {
  const Token& t = current();
  std::string found = t.text;
  if (t.is(TokenKind::end)) found = "end of template";
  if (t.is(TokenKind::block_end)) found = "end of statement block";
  if (t.is(TokenKind::output_end)) found = "end of print statement";
  fail((expected.empty() ? "unexpected '" : "expected " + expected + ", got '") + found + "'");
}

void ExpressionParser::expect_symbol(std::string_view s) {
  if (!skip_symbol(s)) fail_unexpected("'" + std::string(s) + "'");
}

std::string ExpressionParser::expect_name() {
  if (!current().is(TokenKind::name)) fail_unexpected("a name");
  return next().text;
}

ExprPtr ExpressionParser::finish(ExprPtr node) {
  const auto deepen = [&](const ExprPtr& child) {
    if (child) node->depth = std::max(node->depth, child->depth + 1);
  };
  for (const ExprPtr& part : node->parts) deepen(part);
  for (const ExprPtr& argument : node->arguments.positional) deepen(argument);
  for (const auto& [name, argument] : node->arguments.keyword) deepen(argument);
  deepen(node->arguments.star);
  deepen(node->arguments.double_star);
  if (node->depth > kMaxTreeDepth) fail("the expression is nested too deeply");
  return node;
}

ExprPtr ExpressionParser::make(ExprKind kind, std::vector<ExprPtr> parts, std::string text) {
  auto node = std::make_unique<Expr>();
  node->kind = kind;
  node->line = current().line;
  node->parts = std::move(parts);
  node->text = std::move(text);
  return finish(std::move(node));
}

namespace {
template <class... Parts>
std::vector<ExprPtr> list_of(Parts... parts) {
  std::vector<ExprPtr> result;
  (result.push_back(std::move(parts)), ...);
  return result;
}
}  // namespace

ExprPtr ExpressionParser::parse_expression(bool with_conditional) {
  const Nesting nesting(*this);
  ExprPtr node = parse_or();
  while (with_conditional && skip_name("if")) {
    ExprPtr condition = parse_or(), otherwise;
    if (skip_name("else")) otherwise = parse_expression();
    node = make(ExprKind::conditional, list_of(std::move(node), std::move(condition), std::move(otherwise)));
  }
  return node;
}

ExprPtr ExpressionParser::parse_or() {
  ExprPtr node = parse_and();
  while (skip_name("or")) {
    ExprPtr right = parse_and();
    node = make(ExprKind::logical_or, list_of(std::move(node), std::move(right)));
  }
  return node;
}

ExprPtr ExpressionParser::parse_and() {
  ExprPtr node = parse_not();
  while (skip_name("and")) {
    ExprPtr right = parse_not();
    node = make(ExprKind::logical_and, list_of(std::move(node), std::move(right)));
  }
  return node;
}

ExprPtr ExpressionParser::parse_not() {
  if (!current().is_name("not")) return parse_compare();
  const Nesting nesting(*this);
  next();
  return make(ExprKind::logical_not, list_of(parse_not()));
}

ExprPtr ExpressionParser::parse_compare() {
  ExprPtr node = make(ExprKind::compare, list_of(parse_sum()));
  for (;;) {
    std::string operation;
    for (std::string_view s : {"==", "!=", "<", "<=", ">", ">="}) {
      if (current().is_symbol(s)) operation = s;
    }
    if (current().is_name("in")) operation = "in";
    if (current().is_name("not") && ahead().is_name("in")) {
      next();
      operation = "not in";
    }
    if (operation.empty()) break;
    next();
    node->operators.push_back(operation);
    node->parts.push_back(parse_sum());
  }
  if (node->operators.empty()) return std::move(node->parts[0]);
  return finish(std::move(node));
}

ExprPtr ExpressionParser::parse_sum() {
  ExprPtr node = parse_concat();
  while (current().is_symbol("+") || current().is_symbol("-")) {
    const ExprKind kind = next().text == "+" ? ExprKind::add : ExprKind::subtract;
    ExprPtr right = parse_concat();
    node = make(kind, list_of(std::move(node), std::move(right)));
  }
  return node;
}

ExprPtr ExpressionParser::parse_concat() {
  ExprPtr node = parse_product();
  if (!current().is_symbol("~")) return node;
  node = make(ExprKind::concat, list_of(std::move(node)));
  while (skip_symbol("~")) node->parts.push_back(parse_product());
  return finish(std::move(node));
}

ExprPtr ExpressionParser::parse_product() {
  ExprPtr node = parse_power();
  for (;;) {
    const Token& t = current();
    ExprKind kind;
    if (t.is_symbol("*")) kind = ExprKind::multiply;
    else if (t.is_symbol("/")) kind = ExprKind::divide;
    else if (t.is_symbol("//")) kind = ExprKind::floor_divide;
    else if (t.is_symbol("%")) kind = ExprKind::modulo;
    else return node;
    next();
    ExprPtr right = parse_power();
    node = make(kind, list_of(std::move(node), std::move(right)));
  }
}

ExprPtr ExpressionParser::parse_power() {
  ExprPtr node = parse_unary();
  while (skip_symbol("**")) {
    ExprPtr right = parse_unary();
    node = make(ExprKind::power, list_of(std::move(node), std::move(right)));
  }
  return node;
}

ExprPtr ExpressionParser::parse_unary(bool with_filter) {
  const Nesting nesting(*this);
  ExprPtr node;
  if (skip_symbol("-")) node = make(ExprKind::negate, list_of(parse_unary(false)));
  else if (skip_symbol("+")) node = make(ExprKind::plus, list_of(parse_unary(false)));
  else node = parse_primary();
  node = parse_postfix(std::move(node));
  return with_filter ? parse_filter_chain(std::move(node), false) : std::move(node);
}

ExprPtr ExpressionParser::parse_primary() {
  const Token t = current();
  const auto literal = [&](Value value) {
    next();
    ExprPtr node = make(ExprKind::literal, {});
    node->value = std::move(value);
    return node;
  };
  if (t.is(TokenKind::name)) {
    if (t.text == "true" || t.text == "True") return literal(Value(true));
    if (t.text == "false" || t.text == "False") return literal(Value(false));
    if (t.text == "none" || t.text == "None") return literal(Value(None{}));
    next();
    names_read_.insert(t.text);
    return make(ExprKind::name, {}, t.text);
  }
  if (t.is(TokenKind::string)) {
    std::string text;
    while (current().is(TokenKind::string)) text += next().text;  // neighbours are one string
    ExprPtr node = make(ExprKind::literal, {});
    node->value = string_value(text);
    return node;
  }
  if (t.is(TokenKind::integer)) return literal(Value(t.integer));
  if (t.is(TokenKind::real)) return literal(Value(t.real));
  if (skip_symbol("(")) {
    ExprPtr node = current().is_symbol(")") ? make(ExprKind::tuple, {}) : parse_tuple();
    expect_symbol(")");
    return node;
  }
  if (skip_symbol("[")) {
    ExprPtr node = make(ExprKind::list, {});
    while (!current().is_symbol("]")) {
      if (!node->parts.empty()) expect_symbol(",");
      if (current().is_symbol("]")) break;
      node->parts.push_back(parse_expression());
    }
    expect_symbol("]");
    return finish(std::move(node));
  }
  if (t.is_symbol("{")) return parse_dict();
  fail_unexpected("");
}

ExprPtr ExpressionParser::parse_dict() {
  expect_symbol("{");
  ExprPtr node = make(ExprKind::dict, {});
  while (!current().is_symbol("}")) {
    if (!node->parts.empty()) expect_symbol(",");
    if (current().is_symbol("}")) break;
    node->parts.push_back(parse_expression());
    expect_symbol(":");
    node->parts.push_back(parse_expression());
  }
  expect_symbol("}");
  return finish(std::move(node));
}

bool ExpressionParser::at_tuple_end() const {
  const Token& t = current();
  return t.is(TokenKind::block_end) || t.is(TokenKind::output_end) || t.is(TokenKind::end) || t.is_symbol(")") || t.is_symbol("=");
}

ExprPtr ExpressionParser::parse_tuple(bool with_conditional) {
  ExprPtr first = parse_expression(with_conditional);
  if (!current().is_symbol(",")) return first;
  ExprPtr node = make(ExprKind::tuple, list_of(std::move(first)));
  while (skip_symbol(",")) {
    if (at_tuple_end()) break;
    node->parts.push_back(parse_expression(with_conditional));
  }
  return finish(std::move(node));
}

// A name, a tuple of names, or (for set) namespace.attribute.
ExprPtr ExpressionParser::parse_assign_target(bool with_attribute) {
  const Nesting nesting(*this);
  const auto one = [&]() -> ExprPtr {
    if (skip_symbol("(")) {
      ExprPtr inner = parse_assign_target(false);
      expect_symbol(")");
      return inner;
    }
    if (current().is(TokenKind::name)) {
      for (std::string_view word : {"true", "false", "none", "True", "False", "None"}) {
        if (current().text == word) fail("can't assign to '" + current().text + "'");
      }
    }
    return make(ExprKind::name, {}, expect_name());
  };
  ExprPtr node = one();
  if (with_attribute && skip_symbol(".")) return make(ExprKind::attribute, list_of(std::move(node)), expect_name());
  if (!current().is_symbol(",")) return node;
  node = make(ExprKind::tuple, list_of(std::move(node)));
  while (skip_symbol(",")) {
    if (at_tuple_end() || current().is_name("in")) break;
    node->parts.push_back(one());
  }
  return finish(std::move(node));
}

ExprPtr ExpressionParser::parse_postfix(ExprPtr node) {
  for (;;) {
    if (current().is_symbol(".") || current().is_symbol("[")) {
      node = parse_subscript(std::move(node));
    } else if (current().is_symbol("(")) {
      node = make(ExprKind::call, list_of(std::move(node)));
      parse_arguments(node->arguments);
      node = finish(std::move(node));
    } else {
      return node;
    }
  }
}

ExprPtr ExpressionParser::parse_subscript(ExprPtr node) {
  if (skip_symbol(".")) {
    if (current().is(TokenKind::integer)) {
      ExprPtr index = make(ExprKind::literal, {});
      index->value = Value(next().integer);
      return make(ExprKind::item, list_of(std::move(node), std::move(index)));
    }
    return make(ExprKind::attribute, list_of(std::move(node)), expect_name());
  }
  expect_symbol("[");
  std::vector<ExprPtr> indices;
  bool comma = false;
  while (!current().is_symbol("]") || indices.empty()) {
    if (!indices.empty()) expect_symbol(","), comma = true;
    if (comma && current().is_symbol("]")) break;
    indices.push_back(parse_slice());
  }
  expect_symbol("]");
  ExprPtr index = comma ? make(ExprKind::tuple, std::move(indices)) : std::move(indices[0]);
  return make(ExprKind::item, list_of(std::move(node), std::move(index)));
}

ExprPtr ExpressionParser::parse_slice() {
  ExprPtr parts[3];
  bool is_slice = false;
  for (int i = 0; i < 3; i++) {
    if (!current().is_symbol(":") && !current().is_symbol("]") && !current().is_symbol(",")) parts[i] = parse_expression();
    if (i == 2 || !skip_symbol(":")) break;
    is_slice = true;
  }
  if (!is_slice) {
    if (!parts[0]) fail_unexpected("");
    return std::move(parts[0]);
  }
  return make(ExprKind::slice, list_of(std::move(parts[0]), std::move(parts[1]), std::move(parts[2])));
}

void ExpressionParser::parse_arguments(CallArguments& out) {
  expect_symbol("(");
  for (bool first = true; !current().is_symbol(")"); first = false) {
    if (!first) expect_symbol(",");
    if (current().is_symbol(")")) break;
    if (skip_symbol("*")) {
      if (out.star || out.double_star) fail("invalid syntax for function call expression");
      out.star = parse_expression();
    } else if (skip_symbol("**")) {
      if (out.double_star) fail("invalid syntax for function call expression");
      out.double_star = parse_expression();
    } else if (current().is(TokenKind::name) && ahead().is_symbol("=")) {
      if (out.double_star) fail("invalid syntax for function call expression");
      std::string name = next().text;
      next();
      out.keyword.emplace_back(std::move(name), parse_expression());
    } else {
      if (out.star || out.double_star || !out.keyword.empty()) fail("invalid syntax for function call expression");
      out.positional.push_back(parse_expression());
    }
  }
  expect_symbol(")");
}

// Filters, tests and calls after an expression. `started`: the name of a filter comes at once, as in a filter block.
ExprPtr ExpressionParser::parse_filter_chain(ExprPtr node, bool started) {
  for (;; started = false) {
    if (started || skip_symbol("|")) {
      std::string name = expect_name();
      while (skip_symbol(".")) name += "." + expect_name();
      node = make(ExprKind::filter, list_of(std::move(node)), std::move(name));
      if (current().is_symbol("(")) parse_arguments(node->arguments);
      node = finish(std::move(node));
    } else if (skip_name("is")) {
      node = parse_test(std::move(node));
    } else if (node && current().is_symbol("(")) {
      node = make(ExprKind::call, list_of(std::move(node)));
      parse_arguments(node->arguments);
      node = finish(std::move(node));
    } else {
      return node;
    }
  }
}

ExprPtr ExpressionParser::parse_test(ExprPtr node) {
  const bool negated = skip_name("not");
  std::string name = expect_name();
  while (skip_symbol(".")) name += "." + expect_name();
  node = make(ExprKind::test, list_of(std::move(node)), std::move(name));
  const Token& t = current();
  if (t.is_symbol("(")) {
    parse_arguments(node->arguments);
  } else if (t.is(TokenKind::string) || t.is(TokenKind::integer) || t.is(TokenKind::real) || t.is_symbol("[") || t.is_symbol("{") ||
             (t.is(TokenKind::name) && t.text != "else" && t.text != "or" && t.text != "and")) {
    if (t.is_name("is")) fail("You cannot chain multiple tests with is");
    node->arguments.positional.push_back(parse_postfix(parse_primary()));
  }
  node = finish(std::move(node));
  return negated ? make(ExprKind::logical_not, list_of(std::move(node))) : std::move(node);
}

}  // namespace outrider::jinja
