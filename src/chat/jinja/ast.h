#pragma once
// The tree of a template. Nodes know their depth, which the parser bounds, so that walking and freeing a tree cannot exhaust the stack.
#include <memory>
#include <string>
#include <vector>

#include "chat/jinja/value.h"

namespace outrider::jinja {

enum class ExprKind {
  literal,      // value
  name,         // text
  list, tuple,  // parts
  dict,         // parts: key, value, key, value …
  attribute,    // parts[0] . text
  item,         // parts[0] [ parts[1] ]
  slice,        // only as parts[1] of item: start, stop, step, each may be null
  call,         // parts[0] ( arguments )
  filter,       // parts[0] | text ( arguments ); parts[0] null inside a filter block
  test,         // parts[0] is text ( arguments )
  negate, plus, logical_not,        // parts[0]
  add, subtract, multiply, divide, floor_divide, modulo, power,
  logical_and, logical_or,          // parts[0], parts[1]
  concat,       // parts …, joined as text
  compare,      // parts[0], then operators[i] parts[i + 1]
  conditional,  // parts: then, condition, else (may be null)
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct CallArguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> keyword;
  ExprPtr star, double_star;
};

struct Expr {
  ExprKind kind;
  int line = 0, depth = 1;
  std::string text;
  Value value;
  std::vector<ExprPtr> parts;
  std::vector<std::string> operators;
  CallArguments arguments;
};

enum class StatementKind {
  data,          // text
  output,        // expr
  if_chain,      // branches: condition (null for else) and body
  for_loop,      // target, expr, condition, recursive; body, otherwise
  set,           // target = expr
  set_block,     // target = body through filter `expr` (may be null)
  macro,         // text (parameters) body
  call_block,    // expr is the call; parameters of the caller, body
  filter_block,  // expr is the filter chain; body
  with,          // bindings, body
  scope,         // body in a scope of its own ({% generation %}, {% block %})
  break_loop, continue_loop,
};

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

struct Branch {
  ExprPtr condition;
  Body body;
};

struct Parameter {
  std::string name;
  ExprPtr fallback;  // null: none
};

struct Statement {
  StatementKind kind;
  int line = 0;
  std::string text;
  ExprPtr target, expr, condition;
  bool recursive = false;
  bool uses_varargs = false, uses_kwargs = false, uses_caller = false;  // of a macro: it takes what it names
  std::vector<Branch> branches;
  std::vector<Parameter> parameters;
  std::vector<std::pair<ExprPtr, ExprPtr>> bindings;
  Body body, otherwise;
};

constexpr int kMaxTreeDepth = 150;

}  // namespace outrider::jinja
