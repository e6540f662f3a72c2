// The functions every template sees, and `loop`.
#include <algorithm>

#include "chat/jinja/objects.h"

namespace outrider::jinja {

LoopObject::LoopObject(const Statement& statement, std::vector<Value> items, int depth0, std::shared_ptr<Scope> scope)
    : statement_(statement), items_(std::move(items)), depth0_(depth0), scope_(std::move(scope)) {
  for (const Value& item : items_) depth_ = std::max(depth_, item.depth() + 1);
  if (depth_ > kMaxValueDepth) throw TemplateError{"lists and mappings are nested too deeply"};
}

Value LoopObject::call(Runner& runner, Arguments& arguments) {
  arguments.at_most(1);
  if (!statement_.recursive) throw TemplateError{"The loop must have the 'recursive' marker to be called recursively."};
  const Value& items = arguments.need(0, "iterable");
  return runner.text_value(runner.captured([&] {
    if (scope_) runner.scope_ = scope_;
    (void)runner.run_for(statement_, items, depth0_ + 1);
  }));
}

bool LoopObject::changed(std::vector<Value> values) {
  const bool same = has_last_ && std::equal(values.begin(), values.end(), last_values_.begin(), last_values_.end(), equal);
  last_values_ = std::move(values);
  has_last_ = true;
  return !same;
}

namespace {

Value loop_cycle(Runner&, Arguments& a) {
  const size_t count = a.positional.size() - 1;
  if (count == 0) throw TemplateError{"no items for cycling given"};
  Value index;
  (void)a.positional[0].object()->attribute("index0", index);
  return a.positional[1 + size_t(index.integer()) % count];
}

Value loop_changed(Runner& r, Arguments& a) {
  for (const Value& v : a.positional) r.charge_comparing(v);
  const auto loop = a.positional[0].object_as<LoopObject>();
  return Value(loop->changed(std::vector<Value>(a.positional.begin() + 1, a.positional.end())));
}

Value method_of(Object& object, Builtin method) {
  return Value(std::shared_ptr<Object>(std::make_shared<BoundMethod>(method, Value(object.shared_from_this()))));
}

// joiner(", ") gives nothing at the first call and its separator ever after.
class Joiner : public Object {
 public:
  explicit Joiner(Value separator) : separator_(std::move(separator)) {}
  const char* type_name() const override { return "Joiner"; }
  bool callable() const override { return true; }
  int depth() const override { return separator_.depth() + 1; }
  Value call(Runner&, Arguments& arguments) override {
    arguments.at_most(0);
    if (used_) return separator_;
    used_ = true;
    return string_value("");
  }

 private:
  Value separator_;
  bool used_ = false;
};

Value cycler_next(Runner&, Arguments& a);
Value cycler_reset(Runner&, Arguments& a);

class Cycler : public Object {
 public:
  explicit Cycler(std::vector<Value> items) : items_(std::move(items)) {
    for (const Value& item : items_) depth_ = std::max(depth_, item.depth() + 1);
    if (depth_ > kMaxValueDepth) throw TemplateError{"lists and mappings are nested too deeply"};
  }
  const char* type_name() const override { return "Cycler"; }
  int depth() const override { return depth_; }
  bool attribute(const std::string& name, Value& out) override {
    if (name == "current") out = items_[at_];
    else if (name == "next") out = method_of(*this, cycler_next);
    else if (name == "reset") out = method_of(*this, cycler_reset);
    else return false;
    return true;
  }
  Value next() {
    Value value = items_[at_];
    at_ = (at_ + 1) % items_.size();
    return value;
  }
  void reset() { at_ = 0; }

 private:
  std::vector<Value> items_;
  size_t at_ = 0;
  int depth_ = 1;
};

Value cycler_next(Runner&, Arguments& a) { return a.positional[0].object_as<Cycler>()->next(); }
Value cycler_reset(Runner&, Arguments& a) {
  a.positional[0].object_as<Cycler>()->reset();
  return Value(None{});
}

Value make_joiner(Runner&, Arguments& a) {
  a.at_most(1);
  return Value(std::shared_ptr<Object>(std::make_shared<Joiner>(a.get(0, "sep", string_value(", ")))));
}

Value make_cycler(Runner&, Arguments& a) {
  if (a.positional.empty()) throw TemplateError{"at least one item has to be provided"};
  return Value(std::shared_ptr<Object>(std::make_shared<Cycler>(a.positional)));
}

Value range(Runner& r, Arguments& a) {
  constexpr int64_t kMaxRange = 100000;  // the sandbox's limit
  a.at_most(3);
  const bool single = a.positional.size() < 2;
  const int64_t start = single ? 0 : a.integer(0, "start", 0), stop = single ? a.integer(0, "stop", -1) : a.integer(1, "stop", 0);
  const int64_t step = a.integer(2, "step", 1);
  if (a.positional.empty()) throw TemplateError{"range expected at least 1 argument, got 0"};
  if (step == 0) throw TemplateError{"range() arg 3 must not be zero"};
  std::vector<Value> items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (int64_t(items.size()) >= kMaxRange) throw TemplateError{"Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000)."};
    items.push_back(Value(i));
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return r.list_value(std::move(items));
}

std::vector<std::pair<Value, Value>> dict_arguments(Runner& r, const Arguments& a) {
  a.at_most(1);
  std::vector<std::pair<Value, Value>> entries;
  if (!a.positional.empty() && a.positional[0].is_dict()) {
    entries = a.positional[0].dict().entries;
  } else if (!a.positional.empty()) {
    for (const Value& pair : r.iterate(a.positional[0])) {
      const std::vector<Value> parts = r.iterate(pair);
      if (parts.size() != 2)
        throw TemplateError{"dictionary update sequence element has length " + std::to_string(parts.size()) + "; 2 is required"};
      entries.emplace_back(parts[0], parts[1]);
    }
  }
  for (const auto& [key, value] : a.keyword) entries.emplace_back(string_value(key), value);
  return entries;
}

Value make_dictionary(Runner& r, Arguments& a) { return make_dict(dict_arguments(r, a)); }

Value make_namespace(Runner& r, Arguments& a) {
  const auto space = std::make_shared<Namespace>();
  for (auto& [key, value] : dict_arguments(r, a)) space->set(to_text(key).bytes(), value);
  r.keep(space, [space = space.get()] { space->clear(); });
  return Value(std::shared_ptr<Object>(space));
}

Value raise_exception(Runner&, Arguments& a) { throw TemplateError{to_text(a.need(0, "message")).bytes()}; }

Value strftime_now(Runner& r, Arguments& a) {
  a.at_most(1);
  const Text* format = a.text(0, "format");
  if (!format || format->size() > 200) throw TemplateError{"strftime_now: the format must be a short string"};
  char buffer[2048];
  const size_t size = std::strftime(buffer, sizeof buffer, format->bytes().c_str(), &r.now());
  return string_value(std::string_view(buffer, size));
}

}  // namespace

bool LoopObject::attribute(const std::string& name, Value& out) {
  const int64_t i = int64_t(index_), n = int64_t(items_.size());
  if (name == "index") out = Value(i + 1);
  else if (name == "index0") out = Value(i);
  else if (name == "first") out = Value(i == 0);
  else if (name == "last") out = Value(i + 1 == n);
  else if (name == "length") out = Value(n);
  else if (name == "revindex") out = Value(n - i);
  else if (name == "revindex0") out = Value(n - i - 1);
  else if (name == "depth") out = Value(int64_t(depth0_) + 1);
  else if (name == "depth0") out = Value(int64_t(depth0_));
  else if (name == "previtem") out = i > 0 ? items_[index_ - 1] : Value::undefined("there is no previous item");
  else if (name == "nextitem") out = i + 1 < n ? items_[index_ + 1] : Value::undefined("there is no next item");
  else if (name == "cycle") out = method_of(*this, loop_cycle);
  else if (name == "changed") out = method_of(*this, loop_changed);
  else return false;
  return true;
}

const Value* find_global(const std::string& name) {
  static const std::unordered_map<std::string, Value> globals = [] {
    std::unordered_map<std::string, Value> table;
    const std::pair<const char*, Builtin> functions[] = {
        {"range", range}, {"dict", make_dictionary}, {"namespace", make_namespace}, {"joiner", make_joiner}, {"cycler", make_cycler},
        {"raise_exception", raise_exception}, {"strftime_now", strftime_now},
    };
    for (const auto& [key, function] : functions) table[key] = Value(std::shared_ptr<Object>(std::make_shared<Function>(function)));
    return table;
  }();
  const auto place = globals.find(name);
  return place == globals.end() ? nullptr : &place->second;
}

}  // namespace outrider::jinja
