// SPDX-License-Identifier: Apache-2.0

// A shared library of the vendor's, opened at run time, so that nothing here needs CUDA to be
// installed where it is built or where it starts.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

#include "base/result.h"

namespace weft::judge {

class Library {
 public:
  // The first of `names` that can be loaded. It stays loaded until the process ends.
  static Result<Library> open(std::initializer_list<const char*> names, int flags = RTLD_LOCAL) {
    Library library;
    std::string reasons;
    for (const char* name : names) {
      library.name_ = name;
      library.handle_ = dlopen(name, RTLD_NOW | flags);
      if (library.handle_ != nullptr) return library;
      const char* reason = dlerror();
      reasons += (reasons.empty() ? "" : "; ") + std::string(reason == nullptr ? name : reason);
    }
    return Error("cannot load " + reasons, "check LD_LIBRARY_PATH");
  }

  template <typename Function>
  Result<Done> find(const char* symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(dlsym(handle_, symbol));
    if (function != nullptr) return Done{};
    return Error(name_ + " lacks " + symbol, "another version of the library was found");
  }

 private:
  void* handle_ = nullptr;
  std::string name_;
};

}  // namespace weft::judge
