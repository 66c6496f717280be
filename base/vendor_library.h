// SPDX-License-Identifier: Apache-2.0

// A shared library of a vendor's, opened by name at run time, so that nothing here needs CUDA or a
// driver where it is built or where it starts.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/result.h"

namespace weft {

class VendorLibrary {
 public:
  // Whether libraries that are loaded later find its symbols.
  enum class Symbols : uint8_t { Own, Global };

  // The first of `names` that can be loaded. It stays loaded until the process ends.
  static Result<VendorLibrary> open(std::initializer_list<const char*> names,
                                    Symbols symbols = Symbols::Own);

  // Sets `function` to the library's `symbol`, whose signature the caller knows.
  template <typename Function>
  Result<Done> find(const char* symbol, Function*& function) const {
    function = find_optional<Function>(symbol);
    if (function == nullptr) return lacks(symbol);
    return Done{};
  }

  // Null where the library does not have it.
  template <typename Function>
  Function* find_optional(const char* symbol) const {
    return reinterpret_cast<Function*>(address(symbol));
  }

 private:
  VendorLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* address(const char* symbol) const;
  Error lacks(const char* symbol) const;

  void* handle_;
  std::string name_;
};

}  // namespace weft
