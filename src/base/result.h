#pragma once
// A value or an error that tells a person what failed, why, and what to do. User-caused failures travel as values;
// broken invariants abort through CHECK (check.h).
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace outrider {

enum class ErrorKind {
  failure,       // exit code 1: a file, a model, a device
  usage,         // exit code 2: an option or argument
  does_not_fit,  // exit code 3: memory or context
};

struct Error {
  std::string message;  // what and why, with the value that was wrong
  std::string hint;     // what to do next; may be empty
  ErrorKind kind = ErrorKind::failure;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { OUTRIDER_CHECK(ok()); return std::get<0>(state_); }
  const T& value() const& { OUTRIDER_CHECK(ok()); return std::get<0>(state_); }
  T&& value() && { OUTRIDER_CHECK(ok()); return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const { OUTRIDER_CHECK(!ok()); return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const { OUTRIDER_CHECK(error_); return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace outrider
