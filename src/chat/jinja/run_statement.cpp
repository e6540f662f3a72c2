#include <algorithm>

#include "chat/jinja/objects.h"

namespace outrider::jinja {

const Value* Scope::find(const std::string& name) const {
  for (const Scope* scope = this; scope; scope = scope->outer.get()) {
    if (const auto place = scope->names.find(name); place != scope->names.end()) return &place->second;
  }
  return nullptr;
}

Runner::Depth::Depth(Runner& runner) : runner_(runner) {
  if (++runner.depth_ > runner.limits_.depth) {
    runner.depth_--;
    throw TemplateError{"the template nests or recurses more than " + std::to_string(runner.limits_.depth) + " levels deep"};
  }
}

// Everything that could be part of a cycle is emptied while the list still holds it, so that no destructor walks a long chain.
Runner::~Runner() {
  for (auto& [object, clear] : kept_) clear();
}

void Runner::keep(std::shared_ptr<void> object, std::function<void()> clear) {
  charge_steps(1);
  kept_.emplace_back(std::move(object), std::move(clear));
}

void Runner::charge_steps(int64_t n) {
  steps_ += n;
  if (steps_ > limits_.steps) throw TemplateError{"the template takes more than " + std::to_string(limits_.steps) + " steps"};
}

void Runner::charge_reading(const Value& text) {
  if (text.is_text()) charge_steps(int64_t(text.text().size() / 256));
}

void Runner::charge_comparing(const Value& value) { charge_steps(int64_t(value.bulk() / 64)); }

Value Runner::text_value(Text text) {
  if (text.size() > limits_.output_bytes)
    throw TemplateError{"the template makes a string of more than " + std::to_string(limits_.output_bytes) + " bytes"};
  bytes_ += text.size();
  if (bytes_ > limits_.total_bytes)
    throw TemplateError{"the template makes more than " + std::to_string(limits_.total_bytes) + " bytes of text"};
  return Value(std::move(text));
}

Value Runner::list_value(std::vector<Value> items, bool tuple) {
  charge_steps(int64_t(items.size()));
  return Value::list(std::move(items), tuple);
}

Text Runner::run(const Body& body, std::vector<std::pair<std::string, Value>> context) {
  scope_ = std::make_shared<Scope>();
  for (auto& [name, value] : context) scope_->names[name] = std::move(value);
  Text result = captured([&] { (void)run_body(body); });
  scope_ = nullptr;
  return result;
}

void Runner::output(const Text& text) {
  out_->append(text);
  if (out_->size() > limits_.output_bytes)
    throw TemplateError{"the template writes more than " + std::to_string(limits_.output_bytes) + " bytes"};
}

// What `work` writes. Scope and output are put back even when it throws.
Text Runner::captured(const std::function<void()>& work) {
  Text text;
  struct Restore {
    Runner& runner;
    Text* out;
    std::shared_ptr<Scope> scope;
    ~Restore() { runner.out_ = out, runner.scope_ = std::move(scope); }
  } restore{*this, out_, scope_};
  out_ = &text;
  work();
  bytes_ += text.size();
  return text;
}

namespace {
// A scope within the current one, left at the end of the C++ block.
struct InnerScope {
  explicit InnerScope(std::shared_ptr<Scope>& current) : current_(current), outer_(current) {
    current = std::make_shared<Scope>();
    current->outer = outer_;
  }
  ~InnerScope() { current_ = outer_; }
  std::shared_ptr<Scope>& current_;
  std::shared_ptr<Scope> outer_;
};
}  // namespace

Runner::Flow Runner::run_body(const Body& body) {
  for (const auto& statement : body) {
    if (const Flow flow = run_statement(*statement); flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Runner::Flow Runner::run_statement(const Statement& statement) {
  const Depth depth(*this);
  charge_steps(1);
  try {
    return dispatch(statement);
  } catch (TemplateError& error) {
    if (error.line == 0) error.line = statement.line;
    throw;
  }
}

Runner::Flow Runner::dispatch(const Statement& s) {
  switch (s.kind) {
    case StatementKind::data: output(Text(s.text, true)); break;
    case StatementKind::output: output(to_text(evaluate(*s.expr))); break;
    case StatementKind::if_chain: return run_if(s);
    case StatementKind::for_loop: return run_for(s, evaluate(*s.expr), 0);
    case StatementKind::set: assign(*s.target, evaluate(*s.expr)); break;
    case StatementKind::set_block: return run_set_block(s);
    case StatementKind::macro: scope_->names[s.text] = Value(make_macro(s, s.text)); break;
    case StatementKind::call_block: run_call_block(s); break;
    case StatementKind::filter_block: return run_filter_block(s);
    case StatementKind::with: return run_with(s);
    case StatementKind::scope: return run_scope(s);
    case StatementKind::break_loop: return Flow::broke;
    case StatementKind::continue_loop: return Flow::continued;
  }
  return Flow::normal;
}

Runner::Flow Runner::run_if(const Statement& s) {
  for (const Branch& branch : s.branches) {
    if (!branch.condition || evaluate(*branch.condition).truthy()) return run_body(branch.body);
  }
  return Flow::normal;
}

Runner::Flow Runner::run_for(const Statement& s, const Value& over, int depth) {
  std::vector<Value> items = iterate(over);
  if (s.condition) {  // the filter sees the loop's variables, but not `loop`, which counts only what passes
    std::vector<Value> passed;
    for (Value& item : items) {
      const InnerScope inner(scope_);
      assign(*s.target, item);
      if (evaluate(*s.condition).truthy()) passed.push_back(std::move(item));
    }
    items = std::move(passed);
  }
  if (items.empty()) {
    const InnerScope inner(scope_);
    return run_body(s.otherwise);
  }
  const auto loop = std::make_shared<LoopObject>(s, std::move(items), depth, scope_);
  struct Forget {
    LoopObject& loop;
    ~Forget() { loop.clear(); }
  } forget{*loop};
  for (size_t i = 0; i < loop->items().size(); i++) {
    charge_steps(1);
    const InnerScope inner(scope_);
    loop->move_to(i);
    scope_->names["loop"] = Value(std::shared_ptr<Object>(loop));
    assign(*s.target, loop->items()[i]);
    if (run_body(s.body) == Flow::broke) break;
  }
  return Flow::normal;
}

void Runner::assign(const Expr& target, const Value& value) {
  if (target.kind == ExprKind::name) {
    scope_->names[target.text] = value;
  } else if (target.kind == ExprKind::attribute) {
    const auto space = evaluate(*target.parts[0]).object_as<Namespace>();
    if (!space) throw TemplateError{"cannot assign attribute on non-namespace object"};
    space->set(target.text, value);
  } else {
    const std::vector<Value> items = iterate(value);
    if (items.size() < target.parts.size()) {
      throw TemplateError{"not enough values to unpack (expected " + std::to_string(target.parts.size()) + ", got " +
                          std::to_string(items.size()) + ")"};
    }
    if (items.size() > target.parts.size())
      throw TemplateError{"too many values to unpack (expected " + std::to_string(target.parts.size()) + ")"};
    for (size_t i = 0; i < items.size(); i++) assign(*target.parts[i], items[i]);
  }
}

Value Runner::apply_filter_chain(const Expr* chain, Value value) { return chain ? evaluate_filter(*chain, &value) : value; }

Runner::Flow Runner::run_set_block(const Statement& s) {
  Flow flow = Flow::normal;
  Text text = captured([&] {
    const InnerScope inner(scope_);
    flow = run_body(s.body);
  });
  if (flow == Flow::normal) assign(*s.target, apply_filter_chain(s.expr.get(), text_value(std::move(text))));
  return flow;
}

Runner::Flow Runner::run_with(const Statement& s) {
  std::vector<Value> values;
  for (const auto& [target, expr] : s.bindings) values.push_back(evaluate(*expr));  // all in the outer scope
  const InnerScope inner(scope_);
  for (size_t i = 0; i < values.size(); i++) assign(*s.bindings[i].first, values[i]);
  return run_body(s.body);
}

Runner::Flow Runner::run_filter_block(const Statement& s) {
  Flow flow = Flow::normal;
  Text text = captured([&] {
    const InnerScope inner(scope_);
    flow = run_body(s.body);
  });
  if (flow == Flow::normal) output(to_text(apply_filter_chain(s.expr.get(), text_value(std::move(text)))));
  return flow;
}

Runner::Flow Runner::run_scope(const Statement& s) {
  const InnerScope inner(scope_);
  return run_body(s.body);
}

std::shared_ptr<Object> Runner::make_macro(const Statement& s, std::string name) {
  if (!scope_->captured) {  // the scope may hold the macro that holds the scope
    scope_->captured = true;
    keep(scope_, [scope = scope_.get()] { scope->names.clear(), scope->outer = nullptr; });
  }
  return std::make_shared<Macro>(s, std::move(name), scope_);
}

void Runner::run_call_block(const Statement& s) {
  const std::shared_ptr<Object> caller = make_macro(s, "caller");
  output(to_text(evaluate_call(*s.expr, caller)));
}

// The parameters become names of the current scope.
void Runner::bind_parameters(const Statement& s, const std::string& name, Arguments& arguments) {
  const size_t count = s.parameters.size();
  std::vector<bool> given(count, false);
  std::vector<Value> rest;
  for (size_t i = 0; i < arguments.positional.size(); i++) {
    if (i >= count) rest.push_back(arguments.positional[i]);
    else scope_->names[s.parameters[i].name] = arguments.positional[i], given[i] = true;
  }
  if (!rest.empty() && !s.uses_varargs)
    throw TemplateError{"macro '" + name + "' takes not more than " + std::to_string(count) + " argument(s)"};
  std::vector<std::pair<Value, Value>> named;
  for (auto& [key, value] : arguments.keyword) {
    size_t i = 0;
    while (i < count && s.parameters[i].name != key) i++;
    if (i == count) {
      if (!s.uses_kwargs) throw TemplateError{"macro '" + name + "' takes no keyword argument '" + key + "'"};
      named.emplace_back(string_value(key), value);
      continue;
    }
    if (given[i]) throw TemplateError{"macro '" + name + "' got multiple values for argument '" + key + "'"};
    scope_->names[key] = value;
    given[i] = true;
  }
  for (size_t i = 0; i < count; i++) {
    const Parameter& p = s.parameters[i];
    if (!given[i])
      scope_->names[p.name] = p.fallback ? evaluate(*p.fallback) : Value::undefined("parameter '" + p.name + "' was not provided");
  }
  if (s.uses_varargs) scope_->names["varargs"] = list_value(std::move(rest), true);
  if (s.uses_kwargs) scope_->names["kwargs"] = make_dict(std::move(named));
  if (arguments.caller && !s.uses_caller) throw TemplateError{"macro '" + name + "' does not use the body it was called with"};
  if (s.uses_caller && s.kind == StatementKind::macro) {
    scope_->names["caller"] = arguments.caller ? Value(arguments.caller) : Value::undefined("No caller defined");
  }
}

Value Runner::run_macro(const Statement& s, const std::string& name, const std::shared_ptr<Scope>& scope, Arguments& arguments) {
  const Depth depth(*this);
  return text_value(captured([&] {
    scope_ = std::make_shared<Scope>();
    scope_->outer = scope;
    bind_parameters(s, name, arguments);
    (void)run_body(s.body);
  }));
}

}  // namespace outrider::jinja
