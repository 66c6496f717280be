// SPDX-License-Identifier: Apache-2.0

// Result<T>: a value, or the diagnostics that say why there is none. For bad input only: a fault of
// a judged program is part of the verdict, and our own bug is an INVARIANT.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "base/invariant.h"

namespace weft {

// One or more diagnostics. Converts into any Result.
struct Error {
  std::vector<Diagnostic> diagnostics;

  Error() = default;
  explicit Error(std::string message, std::string hint = {}) {
    diagnostics.push_back({.message = std::move(message), .hint = std::move(hint)});
  }
  explicit Error(Diagnostic diagnostic) { diagnostics.push_back(std::move(diagnostic)); }

  const std::string& message() const { return diagnostics.front().message; }
};

// All diagnostics of an error, formatted, one after the other.
std::string format(const Error& error);

// The value of a check that yields nothing but success.
struct Done {};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : content_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return std::holds_alternative<T>(content_); }
  explicit operator bool() const { return ok(); }

  T& value() & {
    INVARIANT(ok());
    return *std::get_if<T>(&content_);
  }
  const T& value() const& {
    INVARIANT(ok());
    return *std::get_if<T>(&content_);
  }
  T&& value() && {
    INVARIANT(ok());
    return std::move(*std::get_if<T>(&content_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & {
    INVARIANT(!ok());
    return *std::get_if<Error>(&content_);
  }
  const Error& error() const& {
    INVARIANT(!ok());
    return *std::get_if<Error>(&content_);
  }
  Error&& error() && {
    INVARIANT(!ok());
    return std::move(*std::get_if<Error>(&content_));
  }

 private:
  std::variant<T, Error> content_;
};

}  // namespace weft

// Yields the value of a Result, or returns its error from the enclosing function (which returns a
// Result itself). A statement expression: GCC and Clang. Not for a later member of a braced list:
// what the list has built before it would never be destroyed (GCC 12, seen by LeakSanitizer).
#define TRY(...)                                                \
  (__extension__({                                              \
    auto try_result = (__VA_ARGS__);                            \
    if (!try_result.ok()) return std::move(try_result).error(); \
    std::move(try_result).value();                              \
  }))
