#pragma once
// The few values with behaviour that templates can hold.
#include <algorithm>
#include <unordered_map>

#include "chat/jinja/runner.h"

namespace outrider::jinja {

// namespace(...): the one thing a template can change after it was made.
class Namespace : public Object {
 public:
  const char* type_name() const override { return "Namespace"; }
  bool attribute(const std::string& name, Value& out) override {
    const auto place = names_.find(name);
    if (place != names_.end()) out = place->second;
    return place != names_.end();
  }
  void set(const std::string& name, Value value) { names_[name] = std::move(value); }
  void clear() { names_.clear(); }

 private:
  std::unordered_map<std::string, Value> names_;
};

// What map, select and their like give: can be walked once, is always true, has no length.
class Generator : public Object {
 public:
  explicit Generator(std::vector<Value> items) : items_(std::move(items)) {
    for (const Value& item : items_) depth_ = std::max(depth_, item.depth() + 1);
    if (depth_ > kMaxValueDepth) throw TemplateError{"lists and mappings are nested too deeply"};
  }
  const char* type_name() const override { return "generator"; }
  std::vector<Value>* iterate() override { return &items_; }
  int depth() const override { return depth_; }

 private:
  std::vector<Value> items_;
  int depth_ = 1;
};

class Function : public Object {
 public:
  explicit Function(Builtin function, const char* type = "function") : function_(function), type_(type) {}
  const char* type_name() const override { return type_; }
  bool callable() const override { return true; }
  Value call(Runner& runner, Arguments& arguments) override { return function_(runner, arguments); }

 private:
  Builtin function_;
  const char* type_;
};

// A method and its receiver, which it gets as its first argument.
class BoundMethod : public Object {
 public:
  BoundMethod(Builtin method, Value receiver) : method_(method), receiver_(std::move(receiver)) {}
  const char* type_name() const override { return "builtin_function_or_method"; }
  bool callable() const override { return true; }
  int depth() const override { return receiver_.depth() + 1; }
  Value call(Runner& runner, Arguments& arguments) override {
    runner.charge_reading(receiver_);
    arguments.positional.insert(arguments.positional.begin(), receiver_);
    return method_(runner, arguments);
  }

 private:
  Builtin method_;
  Value receiver_;
};

class Macro : public Object {
 public:
  Macro(const Statement& statement, std::string name, std::shared_ptr<Scope> scope)
      : statement_(statement), name_(std::move(name)), scope_(std::move(scope)) {}
  const char* type_name() const override { return "Macro"; }
  bool callable() const override { return true; }
  bool attribute(const std::string& name, Value& out) override {
    if (name == "name") out = string_value(name_);
    return name == "name";
  }
  Value call(Runner& runner, Arguments& arguments) override { return runner.run_macro(statement_, name_, scope_, arguments); }

 private:
  const Statement& statement_;  // lives as long as the template, which outlives every run
  std::string name_;
  std::shared_ptr<Scope> scope_;
};

// `loop`. Place and neighbours are read by attribute; calling it runs a recursive loop again on other items.
class LoopObject : public Object {
 public:
  LoopObject(const Statement& statement, std::vector<Value> items, int depth0, std::shared_ptr<Scope> scope);
  const char* type_name() const override { return "LoopContext"; }
  bool callable() const override { return true; }
  Value call(Runner& runner, Arguments& arguments) override;
  bool attribute(const std::string& name, Value& out) override;
  int64_t length() const override { return int64_t(items_.size()); }
  int depth() const override { return depth_; }

  const std::vector<Value>& items() const { return items_; }
  void move_to(size_t index) { index_ = index; }
  bool changed(std::vector<Value> values);
  void clear() {  // at the loop's end: what could refer back to this object goes
    last_values_.clear();
    scope_ = nullptr;
  }

 private:
  const Statement& statement_;
  std::vector<Value> items_;
  int depth0_, depth_ = 1;
  size_t index_ = 0;
  std::shared_ptr<Scope> scope_;    // around the loop; where a recursive call runs
  std::vector<Value> last_values_;  // of changed()
  bool has_last_ = false;
};

}  // namespace outrider::jinja
