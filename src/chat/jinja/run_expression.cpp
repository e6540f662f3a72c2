#include <algorithm>
#include <cmath>

#include "chat/jinja/objects.h"

namespace outrider::jinja {
namespace {

TemplateError type_error(const char* operation, const Value& a, const Value& b) {
  return {std::string("unsupported operand type(s) for ") + operation + ": '" + a.type_name() + "' and '" + b.type_name() + "'"};
}

const char* symbol_of(ExprKind kind) {
  switch (kind) {
    case ExprKind::add: return "+";
    case ExprKind::subtract: return "-";
    case ExprKind::multiply: return "*";
    case ExprKind::divide: return "/";
    case ExprKind::floor_divide: return "//";
    case ExprKind::modulo: return "%";
    default: return "**";
  }
}

Value checked(bool overflow, const int64_t& result) {  // by reference: the call that fills it may be evaluated after it
  if (overflow) throw TemplateError{"an integer grows beyond 64 bits"};
  return Value(result);
}

Value integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) throw TemplateError{"0.0 cannot be raised to a negative power"};
    return Value(std::pow(double(base), double(exponent)));
  }
  int64_t result = 1;
  bool overflow = false;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) overflow |= __builtin_mul_overflow(result, base, &result);
    if (exponent > 1) {
      int64_t square = 0;
      const bool too_big = __builtin_mul_overflow(base, base, &square);
      overflow |= too_big;
      base = square;
    }
  }
  return checked(overflow, result);
}

Value integer_arithmetic(ExprKind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  if ((kind == ExprKind::floor_divide || kind == ExprKind::modulo || kind == ExprKind::divide) && b == 0) {
    throw TemplateError{kind == ExprKind::divide ? "division by zero" : "integer division or modulo by zero"};
  }
  switch (kind) {
    case ExprKind::add: return checked(__builtin_add_overflow(a, b, &result), result);
    case ExprKind::subtract: return checked(__builtin_sub_overflow(a, b, &result), result);
    case ExprKind::multiply: return checked(__builtin_mul_overflow(a, b, &result), result);
    case ExprKind::divide: return Value(double(a) / double(b));
    case ExprKind::power: return integer_power(a, b);
    default: break;
  }
  if (b == -1) return kind == ExprKind::modulo ? Value(int64_t(0)) : checked(__builtin_sub_overflow(int64_t(0), a, &result), result);
  const int64_t quotient = a / b, remainder = a % b;
  const bool down = remainder != 0 && (remainder < 0) != (b < 0);  // Python rounds towards minus infinity
  return kind == ExprKind::modulo ? Value(down ? remainder + b : remainder) : Value(down ? quotient - 1 : quotient);
}

Value float_arithmetic(ExprKind kind, double a, double b) {
  if ((kind == ExprKind::floor_divide || kind == ExprKind::modulo || kind == ExprKind::divide) && b == 0)
    throw TemplateError{"float division by zero"};
  switch (kind) {
    case ExprKind::add: return Value(a + b);
    case ExprKind::subtract: return Value(a - b);
    case ExprKind::multiply: return Value(a * b);
    case ExprKind::divide: return Value(a / b);
    case ExprKind::power: return Value(std::pow(a, b));
    default: break;
  }
  double remainder = std::fmod(a, b);
  if (remainder != 0 && (remainder < 0) != (b < 0)) remainder += b;
  if (kind == ExprKind::modulo) return Value(remainder);
  return Value(std::floor((a - remainder) / b + 0.5));
}

}  // namespace

Value Runner::evaluate(const Expr& expr) {
  const Depth depth(*this);
  charge_steps(1);
  return evaluate_kind(expr);
}

Value Runner::evaluate_kind(const Expr& e) {
  const auto part = [&](size_t i) { return evaluate(*e.parts[i]); };
  switch (e.kind) {
    case ExprKind::literal: return e.value;
    case ExprKind::name: {
      if (const Value* found = scope_->find(e.text)) return *found;
      if (const Value* found = find_global(e.text)) return *found;
      return Value::undefined("'" + e.text + "' is undefined");
    }
    case ExprKind::list:
    case ExprKind::tuple:
    case ExprKind::dict: return evaluate_container(e);
    case ExprKind::attribute: return attribute(part(0), e.text);
    case ExprKind::item: return evaluate_item(e);
    case ExprKind::slice: throw TemplateError{"a slice stands alone"};
    case ExprKind::call: return evaluate_call(e);
    case ExprKind::filter: return evaluate_filter(e, nullptr);
    case ExprKind::test: {
      Arguments arguments;
      arguments.positional.push_back(part(0));
      evaluate_arguments(e.arguments, arguments);
      return Value(test(e.text, arguments));
    }
    case ExprKind::negate:
    case ExprKind::plus: return evaluate_sign(e);
    case ExprKind::logical_not: return Value(!part(0).truthy());
    case ExprKind::logical_and: {
      Value left = part(0);
      return left.truthy() ? part(1) : left;
    }
    case ExprKind::logical_or: {
      Value left = part(0);
      return left.truthy() ? left : part(1);
    }
    case ExprKind::concat: {
      Text text;
      for (const ExprPtr& p : e.parts) text.append(to_text(evaluate(*p)));
      return text_value(std::move(text));
    }
    case ExprKind::compare: return evaluate_compare(e);
    case ExprKind::conditional:
      if (part(1).truthy()) return part(0);
      return e.parts[2] ? part(2) : Value::undefined("the inline if-expression evaluated to false and no else section was defined");
    default: {
      const Value left = part(0), right = part(1);
      return arithmetic(e.kind, left, right);
    }
  }
}

Value Runner::evaluate_container(const Expr& e) {
  if (e.kind != ExprKind::dict) {
    std::vector<Value> items;
    for (const ExprPtr& p : e.parts) items.push_back(evaluate(*p));
    return list_value(std::move(items), e.kind == ExprKind::tuple);
  }
  std::vector<std::pair<Value, Value>> entries;
  for (size_t i = 0; i < e.parts.size(); i += 2) {
    Value key = evaluate(*e.parts[i]);
    entries.emplace_back(std::move(key), evaluate(*e.parts[i + 1]));
  }
  return make_dict(std::move(entries));
}

Value Runner::evaluate_sign(const Expr& e) {
  const bool minus = e.kind == ExprKind::negate;
  const Value v = evaluate(*e.parts[0]);
  if (v.is_undefined()) throw TemplateError{v.why_undefined()};
  if (!v.is_number()) throw TemplateError{std::string("bad operand type for unary ") + (minus ? "-" : "+") + ": '" + v.type_name() + "'"};
  if (v.is_float()) return minus ? Value(-v.number()) : v;
  return minus ? integer_arithmetic(ExprKind::subtract, 0, v.integer()) : Value(v.integer());
}

Value Runner::evaluate_compare(const Expr& e) {
  Value left = evaluate(*e.parts[0]);
  for (size_t i = 0; i < e.operators.size(); i++) {
    const std::string& op = e.operators[i];
    Value right = evaluate(*e.parts[i + 1]);
    const bool searches = op == "in" || op == "not in";  // otherwise no more than the smaller side is looked at
    charge_comparing(searches ? (right.is_dict() ? left : right) : left.bulk() < right.bulk() ? left : right);
    bool holds;
    if (op == "==") holds = equal(left, right);
    else if (op == "!=") holds = !equal(left, right);
    else if (op == "in") holds = contains(right, left);
    else if (op == "not in") holds = !contains(right, left);
    else {
      const int order = compare(left, right, op.c_str());
      holds = order != 2 && (op == "<" ? order < 0 : op == "<=" ? order <= 0 : op == ">" ? order > 0 : order >= 0);
    }
    if (!holds) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Value Runner::arithmetic(ExprKind kind, const Value& a, const Value& b) {
  if (a.is_undefined() || b.is_undefined()) {
    if (kind == ExprKind::modulo && a.is_text()) return text_value(percent_format(*this, a.text(), {b}, nullptr, false));
    throw TemplateError{a.is_undefined() ? a.why_undefined() : b.why_undefined()};
  }
  if (a.is_integral() && b.is_integral()) return integer_arithmetic(kind, a.integer(), b.integer());
  if (a.is_number() && b.is_number()) return float_arithmetic(kind, a.number(), b.number());
  if (kind == ExprKind::add) return add(a, b);
  if (kind == ExprKind::multiply && b.is_integral()) return repeat(a, b.integer());
  if (kind == ExprKind::multiply && a.is_integral()) return repeat(b, a.integer());
  if (kind == ExprKind::modulo && a.is_text()) {
    const bool many = b.is_list() && b.list().tuple;
    return text_value(percent_format(*this, a.text(), many ? b.items() : std::vector<Value>{b}, b.is_dict() ? &b : nullptr,
                                     many || !b.is_list()));
  }
  throw type_error(symbol_of(kind), a, b);
}

Value Runner::add(const Value& a, const Value& b) {
  if (a.is_text() && b.is_text()) {
    Text text = a.text();
    text.append(b.text());
    return text_value(std::move(text));
  }
  if (a.is_list() && b.is_list() && a.list().tuple == b.list().tuple) {
    std::vector<Value> items = a.items();
    items.insert(items.end(), b.items().begin(), b.items().end());
    return list_value(std::move(items), a.list().tuple);
  }
  if (a.is_text()) throw TemplateError{"can only concatenate str (not \"" + b.type_name() + "\") to str"};
  throw type_error("+", a, b);
}

Value Runner::repeat(const Value& what, int64_t times) {
  times = std::max<int64_t>(times, 0);
  if (what.is_text()) {
    if (what.text().size() > 0 && size_t(times) > limits_.output_bytes / what.text().size())
      throw TemplateError{"a repeated string grows too long"};
    charge_steps(what.text().empty() ? 0 : times);
    Text text;
    for (int64_t i = 0; i < (what.text().empty() ? 0 : times); i++) text.append(what.text());
    return text_value(std::move(text));
  }
  if (!what.is_list()) throw TemplateError{"can't multiply sequence by non-int of type '" + what.type_name() + "'"};
  const size_t size = what.items().size();
  if (size > 0 && times > limits_.steps / int64_t(size)) throw TemplateError{"a repeated list grows too long"};
  charge_steps(int64_t(size) * times);
  std::vector<Value> items;
  for (int64_t i = 0; size > 0 && i < times; i++) items.insert(items.end(), what.items().begin(), what.items().end());
  return Value::list(std::move(items), what.list().tuple);
}

Value Runner::attribute(const Value& object, const std::string& name) {
  if (object.is_undefined()) throw TemplateError{object.why_undefined()};
  Value out;
  if (object.is_object() && object.object()->attribute(name, out)) return out;
  if (object.is_list() && object.list().group && (name == "grouper" || name == "list")) return object.items()[name == "list"];
  if (!object.is_object()) {
    out = bound_method(object, name);
    if (!out.is_undefined()) return out;
  }
  if (object.is_dict()) {
    if (const Value* found = object.dict().find(name)) return *found;
  }
  return Value::undefined("'" + object.type_name() + " object' has no attribute '" + name + "'");
}

Value Runner::item(const Value& object, const Value& key) {
  charge_reading(key);
  if (object.is_undefined()) throw TemplateError{object.why_undefined()};
  if (object.is_dict()) {
    if (const Value* found = (key.is_list() && !key.list().tuple) || key.is_dict() ? nullptr : object.dict().find(key)) return *found;
  } else if (object.is_list() && key.is_integral()) {
    const int64_t size = int64_t(object.items().size()), index = key.integer() < 0 ? key.integer() + size : key.integer();
    if (index >= 0 && index < size) return object.items()[size_t(index)];
  } else if (object.is_text() && key.is_integral()) {
    charge_steps(int64_t(object.text().size() / 64));
    const std::vector<size_t> starts = character_starts(object.bytes());
    const int64_t size = int64_t(starts.size()) - 1, index = key.integer() < 0 ? key.integer() + size : key.integer();
    if (index >= 0 && index < size) return text_value(object.text().substring(starts[size_t(index)], starts[size_t(index) + 1]));
  }
  if (key.is_text()) {
    Value out;
    if (object.is_object() ? object.object()->attribute(key.bytes(), out) : !(out = bound_method(object, key.bytes())).is_undefined())
      return out;
  }
  return Value::undefined("'" + object.type_name() + " object' has no element " + repr(key).bytes());
}

Value Runner::evaluate_item(const Expr& e) {
  const Value object = evaluate(*e.parts[0]);
  if (e.parts[1]->kind == ExprKind::slice) return slice(object, *e.parts[1]);
  return item(object, evaluate(*e.parts[1]));
}

// object[start:stop:step] with Python's clamping; each part may be left out or none.
Value Runner::slice(const Value& object, const Expr& range) {
  if (object.is_undefined()) throw TemplateError{object.why_undefined()};
  const auto bound = [&](size_t i) -> std::pair<bool, int64_t> {
    const Value v = range.parts[i] ? evaluate(*range.parts[i]) : Value(None{});
    if (v.is_none()) return {false, 0};
    if (!v.is_integral()) throw TemplateError{"slice indices must be integers or None or have an __index__ method"};
    return {true, v.integer()};
  };
  const auto [has_start, start] = bound(0);
  const auto [has_stop, stop] = bound(1);
  const auto [has_step, given_step] = bound(2);
  if (!object.is_text() && !object.is_list()) throw TemplateError{"'" + object.type_name() + "' object cannot be sliced"};
  if (has_step && given_step == 0) throw TemplateError{"slice step cannot be zero"};

  const std::vector<size_t> starts = object.is_text() ? character_starts(object.bytes()) : std::vector<size_t>{};
  const int64_t size = object.is_text() ? int64_t(starts.size()) - 1 : int64_t(object.items().size());
  charge_steps(object.is_text() ? size / 64 : 0);
  const int64_t step = has_step ? std::clamp<int64_t>(given_step, -size - 1, size + 1) : 1;
  const auto place = [&](bool given, int64_t at, int64_t fallback) {
    if (!given) return fallback;
    const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
    return at < 0 ? (at < -size ? low : std::max(at + size, low)) : std::min(at, high);
  };
  const int64_t first = place(has_start, start, step < 0 ? size - 1 : 0), last = place(has_stop, stop, step < 0 ? -1 : size);
  if (object.is_text()) {
    Text text;
    if (step == 1 && first < last) text.append(object.text(), starts[size_t(first)], starts[size_t(last)]);
    else if (step != 1) {
      for (int64_t i = first; step < 0 ? i > last : i < last; i += step)
        text.append(object.text(), starts[size_t(i)], starts[size_t(i) + 1]);
    }
    return text_value(std::move(text));
  }
  std::vector<Value> items;
  for (int64_t i = first; step < 0 ? i > last : i < last; i += step) items.push_back(object.items()[size_t(i)]);
  return list_value(std::move(items), object.list().tuple);
}

std::vector<Value> Runner::iterate(const Value& value) {
  std::vector<Value> items;
  if (value.is_list()) {
    items = value.items();
  } else if (value.is_dict()) {
    for (const auto& entry : value.dict().entries) items.push_back(entry.first);
  } else if (value.is_text()) {
    const std::vector<size_t> starts = character_starts(value.bytes());
    charge_steps(int64_t(starts.size()));
    for (size_t i = 0; i + 1 < starts.size(); i++) items.push_back(text_value(value.text().substring(starts[i], starts[i + 1])));
  } else if (value.is_object() && value.object()->iterate()) {
    items = std::move(*value.object()->iterate());
    value.object()->iterate()->clear();
  } else if (!value.is_undefined()) {
    throw TemplateError{"'" + value.type_name() + "' object is not iterable"};
  }
  charge_steps(int64_t(items.size()));
  return items;
}

void Runner::evaluate_arguments(const CallArguments& from, Arguments& out) {
  for (const ExprPtr& e : from.positional) out.positional.push_back(evaluate(*e));
  if (from.star) {
    for (Value& v : iterate(evaluate(*from.star))) out.positional.push_back(std::move(v));
  }
  for (const auto& [name, e] : from.keyword) out.keyword.emplace_back(name, evaluate(*e));
  if (from.double_star) {
    const Value named = evaluate(*from.double_star);
    if (!named.is_dict()) throw TemplateError{"argument after ** must be a mapping, not " + named.type_name()};
    for (const auto& [key, value] : named.dict().entries) {
      if (!key.is_text()) throw TemplateError{"keywords must be strings"};
      out.keyword.emplace_back(key.bytes(), value);
    }
  }
}

Value Runner::evaluate_call(const Expr& e, std::shared_ptr<Object> caller) {
  const Value callee = evaluate(*e.parts[0]);
  Arguments arguments;
  evaluate_arguments(e.arguments, arguments);
  arguments.caller = std::move(caller);
  return call(callee, arguments);
}

Value Runner::call(const Value& callee, Arguments& arguments) {
  if (callee.is_undefined()) throw TemplateError{callee.why_undefined()};
  if (!callee.is_object()) throw TemplateError{"'" + callee.type_name() + "' object is not callable"};
  const Depth depth(*this);
  for (const Value& v : arguments.positional) charge_reading(v);
  const std::shared_ptr<Object> object = callee.object();
  return object->call(*this, arguments);
}

Value Runner::evaluate_filter(const Expr& e, const Value* input) {
  // In a filter block or {% set %} chain the innermost filter has no expression: the block's text goes in there.
  if (e.kind != ExprKind::filter) throw TemplateError{"expected a filter"};
  Arguments arguments;
  if (!e.parts[0]) arguments.positional.push_back(*input);
  else arguments.positional.push_back(input ? evaluate_filter(*e.parts[0], input) : evaluate(*e.parts[0]));
  evaluate_arguments(e.arguments, arguments);
  return filter(e.text, arguments);
}

Value Runner::filter(const std::string& name, Arguments& arguments) {
  const Builtin function = find_filter(name);
  if (!function) throw TemplateError{"No filter named '" + name + "'."};
  const Depth depth(*this);
  for (const Value& v : arguments.positional) charge_reading(v);
  return function(*this, arguments);
}

bool Runner::test(const std::string& name, Arguments& arguments) {
  const Test function = find_test(name);
  if (!function) throw TemplateError{"No test named '" + name + "'."};
  charge_reading(arguments.positional[0]);
  for (size_t i = 1; i < arguments.positional.size(); i++) charge_comparing(arguments.positional[i]);
  return function(*this, arguments);
}

}  // namespace outrider::jinja
