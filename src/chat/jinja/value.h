#pragma once
// The values a template works with: Python's, as far as chat templates reach. All but namespaces are immutable and shared.
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "chat/jinja/text.h"

namespace outrider::jinja {

class Value;
class Runner;
struct Arguments;

struct List;
struct Dict;

// Things with behaviour: namespaces, macros, functions, bound methods, loop, generators. Compared by identity.
class Object : public std::enable_shared_from_this<Object> {
 public:
  virtual ~Object() = default;
  virtual const char* type_name() const = 0;
  virtual bool callable() const { return false; }
  virtual Value call(Runner& runner, Arguments& arguments);
  virtual bool attribute(const std::string& name, Value& out);  // false: has none of that name
  virtual std::vector<Value>* iterate() { return nullptr; }  // null: not iterable. The caller may take the items away
  virtual int64_t length() const { return -1; }              // -1: has no len()
  virtual int depth() const { return 1; }
};

struct Undefined { std::shared_ptr<const std::string> why; };
struct None {};

class Value {
 public:
  Value() : data_(Undefined{}) {}
  Value(None) : data_(None{}) {}
  Value(bool b) : data_(b) {}
  Value(int64_t i) : data_(i) {}
  Value(double d) : data_(d) {}
  Value(Text text) : data_(std::make_shared<const Text>(std::move(text))) {}
  Value(std::shared_ptr<const List> list) : data_(std::move(list)) {}
  Value(std::shared_ptr<const Dict> dict) : data_(std::move(dict)) {}
  Value(std::shared_ptr<Object> object) : data_(std::move(object)) {}
  Value(const char*) = delete;  // say whose text it is

  static Value undefined(std::string why) {
    Value v;
    v.data_ = Undefined{std::make_shared<const std::string>(std::move(why))};
    return v;
  }
  static Value list(std::vector<Value> items, bool tuple = false);

  bool is_undefined() const { return std::holds_alternative<Undefined>(data_); }
  bool is_none() const { return std::holds_alternative<None>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<int64_t>(data_); }
  bool is_float() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_bool() || is_int() || is_float(); }
  bool is_integral() const { return is_bool() || is_int(); }
  bool is_text() const { return std::holds_alternative<std::shared_ptr<const Text>>(data_); }
  bool is_list() const { return std::holds_alternative<std::shared_ptr<const List>>(data_); }  // tuples too
  bool is_dict() const { return std::holds_alternative<std::shared_ptr<const Dict>>(data_); }
  bool is_object() const { return std::holds_alternative<std::shared_ptr<Object>>(data_); }

  bool boolean() const { return std::get<bool>(data_); }
  int64_t integer() const { return is_bool() ? int64_t(boolean()) : std::get<int64_t>(data_); }
  double number() const { return is_float() ? std::get<double>(data_) : double(integer()); }
  const Text& text() const { return *std::get<std::shared_ptr<const Text>>(data_); }
  const std::string& bytes() const { return text().bytes(); }
  const List& list() const { return *std::get<std::shared_ptr<const List>>(data_); }
  const std::vector<Value>& items() const;
  const Dict& dict() const { return *std::get<std::shared_ptr<const Dict>>(data_); }
  const std::shared_ptr<Object>& object() const { return std::get<std::shared_ptr<Object>>(data_); }
  template <class T>
  std::shared_ptr<T> object_as() const { return is_object() ? std::dynamic_pointer_cast<T>(object()) : nullptr; }

  std::string type_name() const;  // Python's: 'str', 'int', 'NoneType' …
  std::string why_undefined() const;
  bool truthy() const;
  int depth() const;  // nesting of containers; bounded, so that walking a value cannot exhaust the stack
  size_t bulk() const;  // bytes and items that comparing this value may have to look at; shared parts count each time, up to a ceiling

 private:
  std::variant<Undefined, None, bool, int64_t, double, std::shared_ptr<const Text>, std::shared_ptr<const List>,
               std::shared_ptr<const Dict>, std::shared_ptr<Object>>
      data_;
};

constexpr int kMaxValueDepth = 100;

struct List {
  std::vector<Value> items;
  bool tuple = false;
  bool group = false;  // of groupby: (grouper, list), readable under these names too
  int depth = 1;
  size_t bulk = 1;
};

// Keeps insertion order; keys compare as in Python (1, 1.0 and True are one key).
struct Dict {
  std::vector<std::pair<Value, Value>> entries;
  std::unordered_map<std::string, size_t> index;  // canonical key -> place
  int depth = 1;
  size_t bulk = 1;

  void set(Value key, Value value);  // throws on an unhashable key
  const Value* find(const Value& key) const;
  const Value* find(const std::string& key) const;
};

Value make_dict(std::vector<std::pair<Value, Value>> entries);

bool equal(const Value& a, const Value& b);
// a < b is compare(a, b) < 0; throws a TypeError's message when Python would. NaN compares as unordered (2).
int compare(const Value& a, const Value& b, const char* operation);
bool contains(const Value& container, const Value& item);

Text to_text(const Value& value);  // str(value); an undefined value is empty
Text repr(const Value& value);     // repr(value)
std::string float_repr(double d);  // shortest digits that read back the same, laid out as Python does

Value string_value(std::string_view text);  // text that the template (or the engine) wrote

}  // namespace outrider::jinja
