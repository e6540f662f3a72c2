// What may stand after «is».
#include <cmath>
#include <string_view>

#include "chat/jinja/objects.h"
#include "chat/jinja/text_ops.h"

namespace outrider::jinja {
namespace {

const Value& subject(const Arguments& a) { return a.positional[0]; }
const Value& other(const Arguments& a) { return a.need(1, "other"); }

int64_t integer(const Value& v) {
  if (v.is_undefined()) throw TemplateError{v.why_undefined()};
  if (!v.is_number() || v.number() != std::floor(v.number())) {
    if (v.is_float()) return 1;  // 2.5 is neither even nor odd by remainder 0 or 1; the reference says odd == false too
    throw TemplateError{"not all arguments converted during string formatting"};
  }
  return v.is_float() ? int64_t(v.number()) : v.integer();
}

bool odd(Runner&, Arguments& a) {
  const Value& v = subject(a);
  return v.is_float() ? std::fabs(std::fmod(v.number(), 2)) == 1 : integer(v) % 2 != 0;
}
bool even(Runner&, Arguments& a) {
  const Value& v = subject(a);
  return v.is_float() ? std::fmod(v.number(), 2) == 0 : integer(v) % 2 == 0;
}
bool divisible(Runner&, Arguments& a) {
  const int64_t by = integer(other(a));
  if (by == 0) throw TemplateError{"integer division or modulo by zero"};
  return by == -1 || integer(subject(a)) % by == 0;
}

bool same(Runner&, Arguments& a) {
  const Value &x = subject(a), &y = other(a);
  return x.type_name() == y.type_name() && equal(x, y);
}

bool iterable(Runner&, Arguments& a) {
  const Value& v = subject(a);
  return v.is_undefined() || v.is_text() || v.is_list() || v.is_dict() || (v.is_object() && v.object()->iterate());
}
bool sequence(Runner&, Arguments& a) {
  const Value& v = subject(a);
  return v.is_undefined() || v.is_text() || v.is_list() || v.is_dict();
}

template <bool upper>
bool cased(Runner& r, Arguments& a) {
  const Value method = bound_method(Value(to_text(subject(a))), upper ? "isupper" : "islower");
  Arguments none;
  return r.call(method, none).truthy();
}

enum class Order { lt, le, gt, ge };
template <Order wanted>
bool ordered(Runner&, Arguments& a) {
  constexpr const char* kSymbols[] = {"<", "<=", ">", ">="};
  const int order = compare(subject(a), other(a), kSymbols[int(wanted)]);
  if (order == 2) return false;
  return wanted == Order::lt ? order < 0 : wanted == Order::le ? order <= 0 : wanted == Order::gt ? order > 0 : order >= 0;
}

bool is_equal(Runner&, Arguments& a) { return equal(subject(a), other(a)); }
bool not_equal(Runner&, Arguments& a) { return !equal(subject(a), other(a)); }
bool callable(Runner&, Arguments& a) { return subject(a).is_undefined() || (subject(a).is_object() && subject(a).object()->callable()); }

struct Entry {
  std::string_view name;
  Test test;
};

constexpr Entry kTests[] = {
    {"defined", [](Runner&, Arguments& a) { return !subject(a).is_undefined(); }},
    {"undefined", [](Runner&, Arguments& a) { return subject(a).is_undefined(); }},
    {"none", [](Runner&, Arguments& a) { return subject(a).is_none(); }},
    {"boolean", [](Runner&, Arguments& a) { return subject(a).is_bool(); }},
    {"true", [](Runner&, Arguments& a) { return subject(a).is_bool() && subject(a).boolean(); }},
    {"false", [](Runner&, Arguments& a) { return subject(a).is_bool() && !subject(a).boolean(); }},
    {"integer", [](Runner&, Arguments& a) { return subject(a).is_int(); }},
    {"float", [](Runner&, Arguments& a) { return subject(a).is_float(); }},
    {"number", [](Runner&, Arguments& a) { return subject(a).is_number(); }},
    {"string", [](Runner&, Arguments& a) { return subject(a).is_text(); }},
    {"mapping", [](Runner&, Arguments& a) { return subject(a).is_dict(); }},
    {"escaped", [](Runner&, Arguments&) { return false; }},
    {"filter", [](Runner&, Arguments& a) { return subject(a).is_text() && find_filter(subject(a).bytes()) != nullptr; }},
    {"test", [](Runner&, Arguments& a) { return subject(a).is_text() && find_test(subject(a).bytes()) != nullptr; }},
    {"in", [](Runner&, Arguments& a) { return contains(other(a), subject(a)); }},
    {"odd", odd},
    {"even", even},
    {"divisibleby", divisible},
    {"sameas", same},
    {"iterable", iterable},
    {"sequence", sequence},
    {"callable", callable},
    {"upper", cased<true>},
    {"lower", cased<false>},
    {"eq", is_equal},
    {"equalto", is_equal},
    {"==", is_equal},
    {"ne", not_equal},
    {"!=", not_equal},
    {"lt", ordered<Order::lt>},
    {"lessthan", ordered<Order::lt>},
    {"<", ordered<Order::lt>},
    {"le", ordered<Order::le>},
    {"<=", ordered<Order::le>},
    {"gt", ordered<Order::gt>},
    {"greaterthan", ordered<Order::gt>},
    {">", ordered<Order::gt>},
    {"ge", ordered<Order::ge>},
    {">=", ordered<Order::ge>},
};

}  // namespace

Test find_test(const std::string& name) {
  for (const Entry& entry : kTests) {
    if (entry.name == name) return entry.test;
  }
  return nullptr;
}

}  // namespace outrider::jinja
