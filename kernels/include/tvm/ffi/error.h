// SPDX-License-Identifier: Apache-2.0

// Errors of a candidate: thrown inside it, caught at its C boundary (function.h), handed to the
// host as a kind and a message.
//
//   TVM_FFI_THROW(ValueError) << "N must be a multiple of 8, not " << n;
//   TVM_FFI_CHECK(n % 8 == 0, ValueError) << "N is " << n;
//   TVM_FFI_ICHECK_EQ(a.size(1), b.size(1));
#pragma once

#include <tvm/ffi/c_api.h>

#include <exception>
#include <sstream>
#include <string>
#include <utility>

namespace tvm {
namespace ffi {

class Error : public std::exception {
 public:
  Error(std::string kind, std::string message)
      : kind_(std::move(kind)), message_(std::move(message)) {}
  const std::string& kind() const { return kind_; }
  const std::string& message() const { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string kind_;
  std::string message_;
};

namespace details {

// Collects the streamed message and throws at the end of the full expression, so a failed check can
// be followed by `<<`.
class ErrorBuilder {
 public:
  ErrorBuilder(const char* kind, const char* file, int line) : kind_(kind) {
    stream_ << file << ":" << line << ": ";
  }
  [[noreturn]] ~ErrorBuilder() noexcept(false) { throw Error(kind_, stream_.str()); }
  std::ostream& stream() { return stream_; }

 private:
  const char* kind_;
  std::ostringstream stream_;
};

}  // namespace details
}  // namespace ffi
}  // namespace tvm

#define TVM_FFI_THROW(ErrorKind) \
  ::tvm::ffi::details::ErrorBuilder(#ErrorKind, __FILE__, __LINE__).stream()

// The dangling else binds the check to its own `if`, so the macros are safe without braces.
#define TVM_FFI_CHECK(condition, ErrorKind) \
  if (condition) {                          \
  } else                                    \
    TVM_FFI_THROW(ErrorKind) << "Check failed: (" #condition ") is false: "

#define TVM_FFI_ICHECK(condition) TVM_FFI_CHECK(condition, InternalError)

#define TVM_FFI_ICHECK_COMPARE(x, op, y)                                                      \
  if ((x)op(y)) {                                                                             \
  } else                                                                                      \
    TVM_FFI_THROW(InternalError) << "Check failed: " #x " " #op " " #y " (" << (x) << " vs. " \
                                 << (y) << ") "

#define TVM_FFI_ICHECK_EQ(x, y) TVM_FFI_ICHECK_COMPARE(x, ==, y)
#define TVM_FFI_ICHECK_NE(x, y) TVM_FFI_ICHECK_COMPARE(x, !=, y)
#define TVM_FFI_ICHECK_LT(x, y) TVM_FFI_ICHECK_COMPARE(x, <, y)
#define TVM_FFI_ICHECK_LE(x, y) TVM_FFI_ICHECK_COMPARE(x, <=, y)
#define TVM_FFI_ICHECK_GT(x, y) TVM_FFI_ICHECK_COMPARE(x, >, y)
#define TVM_FFI_ICHECK_GE(x, y) TVM_FFI_ICHECK_COMPARE(x, >=, y)
