#pragma once
// Walks the tree. A template comes from a model file and is not trusted: steps, nesting, and bytes of text made are all bounded.
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "chat/jinja/ast.h"

namespace outrider::jinja {

struct Limits {
  int64_t steps = 4'000'000;             // expressions and statements run, and elements of lists made
  int depth = 400;                       // nested evaluations, macro calls included
  size_t output_bytes = 16u << 20;       // of the result, and of any one string
  size_t total_bytes = size_t(4) << 30;  // of all strings made along the way
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keyword;
  std::shared_ptr<Object> caller;  // the body of a {% call %} block

  // The i-th argument, or that of the name; null when not given.
  const Value* find(size_t i, const char* name) const;
  const Value& need(size_t i, const char* name) const;
  Value get(size_t i, const char* name, Value fallback) const {
    const Value* v = find(i, name);
    return v ? *v : fallback;
  }
  int64_t integer(size_t i, const char* name, int64_t fallback) const;
  bool flag(size_t i, const char* name, bool fallback) const;
  const Text* text(size_t i, const char* name) const;  // null when not given or none; throws when no string
  void at_most(size_t count) const;                    // positional
};

// Names of one block of the template. Inner ones see outer ones; a value is assigned in the scope where `set` stands.
struct Scope {
  std::shared_ptr<Scope> outer;
  std::unordered_map<std::string, Value> names;
  bool captured = false;  // by a macro: may be part of a cycle, so the runner empties it at the end

  const Value* find(const std::string& name) const;
};

class Runner {
 public:
  Runner(const Limits& limits, std::tm now) : limits_(limits), now_(now) {}
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  Text run(const Body& body, std::vector<std::pair<std::string, Value>> context);

  Value evaluate(const Expr& expr);
  Value call(const Value& callee, Arguments& arguments);
  Value filter(const std::string& name, Arguments& arguments);
  bool test(const std::string& name, Arguments& arguments);

  // obj.name looks for an attribute and then for an item; obj[key] the other way round.
  Value attribute(const Value& object, const std::string& name);
  Value item(const Value& object, const Value& key);
  // The values a for loop would see; throws when there are none to be had.
  std::vector<Value> iterate(const Value& value);

  Value arithmetic(ExprKind kind, const Value& a, const Value& b);

  void charge_steps(int64_t n);
  void charge_reading(const Value& text);       // that is searched; other values are free
  void charge_comparing(const Value& value);    // every part of it may be looked at
  Value text_value(Text text);  // charges the bytes
  Value list_value(std::vector<Value> items, bool tuple = false);
  // Objects that can be changed after they were made may form cycles; the runner takes them apart at the end.
  void keep(std::shared_ptr<void> object, std::function<void()> clear);
  const std::tm& now() const { return now_; }

 private:
  friend class Macro;
  friend class LoopObject;
  enum class Flow { normal, broke, continued };
  struct Depth {
    explicit Depth(Runner& runner);
    ~Depth() { runner_.depth_--; }
    Runner& runner_;
  };

  // Statements: run_statement.cpp.
  Flow run_body(const Body& body);
  Flow run_statement(const Statement& statement);
  Flow dispatch(const Statement& statement);
  Flow run_if(const Statement& statement);
  Flow run_for(const Statement& statement, const Value& items, int depth);
  Flow run_set_block(const Statement& statement);
  Flow run_with(const Statement& statement);
  void run_call_block(const Statement& statement);
  Flow run_filter_block(const Statement& statement);
  Flow run_scope(const Statement& statement);
  std::shared_ptr<Object> make_macro(const Statement& statement, std::string name);
  void bind_parameters(const Statement& statement, const std::string& name, Arguments& arguments);
  Value run_macro(const Statement& statement, const std::string& name, const std::shared_ptr<Scope>& scope, Arguments& arguments);
  void assign(const Expr& target, const Value& value);
  void output(const Text& text);
  Text captured(const std::function<void()>& work);
  Value apply_filter_chain(const Expr* chain, Value value);
  void capture_scope();

  // Expressions: run_expression.cpp.
  Value evaluate_kind(const Expr& expr);
  Value evaluate_container(const Expr& expr);
  Value evaluate_sign(const Expr& expr);
  Value evaluate_compare(const Expr& expr);
  Value evaluate_item(const Expr& expr);
  Value evaluate_call(const Expr& expr, std::shared_ptr<Object> caller = nullptr);
  Value evaluate_filter(const Expr& expr, const Value* input);
  void evaluate_arguments(const CallArguments& from, Arguments& out);
  Value slice(const Value& object, const Expr& range);
  Value add(const Value& a, const Value& b);
  Value repeat(const Value& what, int64_t times);

  Limits limits_;
  std::tm now_;
  std::shared_ptr<Scope> scope_;
  Text* out_ = nullptr;
  int64_t steps_ = 0;
  size_t bytes_ = 0;
  int depth_ = 0;
  std::vector<std::pair<std::shared_ptr<void>, std::function<void()>>> kept_;
};

// filters.cpp and its kin; null when there is none of that name.
using Builtin = Value (*)(Runner&, Arguments&);
Builtin find_filter(const std::string& name);
using Test = bool (*)(Runner&, Arguments&);
Test find_test(const std::string& name);
const Value* find_global(const std::string& name);
// str.method, dict.method …: a callable bound to the receiver, or undefined when the type has no such method.
Value bound_method(const Value& receiver, const std::string& name);

// `mapping` serves %(name)s. What is left over is an error only when `all_used` (Python looks away for things with items).
Text percent_format(Runner& runner, const Text& format, const std::vector<Value>& values, const Value* mapping, bool all_used = true);
Value tojson(Runner& runner, Arguments& arguments);

// Attributes by a dotted path, as map(attribute=…) and its like take them.
Value dotted_attribute(Runner& runner, const Value& object, const Value& path, const Value* fallback = nullptr);

}  // namespace outrider::jinja
