// SPDX-License-Identifier: Apache-2.0

#include "base/vendor_library.h"

#include <dlfcn.h>

namespace weft {

Result<VendorLibrary> VendorLibrary::open(std::initializer_list<const char*> names,
                                          Symbols symbols) {
  std::string reasons;
  for (const char* name : names) {
    void* handle = dlopen(name, RTLD_NOW | (symbols == Symbols::Global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (handle != nullptr) return VendorLibrary(handle, name);
    const char* reason = dlerror();
    reasons += (reasons.empty() ? "" : "; ") + std::string(reason == nullptr ? name : reason);
  }
  return Error("cannot load " + reasons, "check LD_LIBRARY_PATH");
}

void* VendorLibrary::address(const char* symbol) const {
  return dlsym(handle_, symbol);
}

Error VendorLibrary::lacks(const char* symbol) const {
  return Error(name_ + " lacks " + symbol, "another version of the library was found");
}

}  // namespace weft
