// SPDX-License-Identifier: Apache-2.0

// Libraries loaded at run time (cudaLibrary*), and driver functions by name.
#include <cstring>

#include "ptxbench/cudart/entry_point.h"
#include "ptxbench/cudart/module.h"
#include "ptxbench/cudart/runtime/edge.h"

using namespace weft::cudart;

namespace {

Status list_kernels(void* library, void** kernels, unsigned capacity, unsigned* count) {
  return list_module_kernels(static_cast<Module*>(library), kernels, capacity, count);
}

int get_entry(const char* name, void** function, int version, int* found) {
  return answer([&] {
    if (name == nullptr || function == nullptr) return Status::InvalidValue;
    const EntryPoint entry = find_driver_function(name, version);
    *function = entry.function;
    if (found != nullptr) {
      *found = static_cast<int>(entry.result);
      return Status::Success;
    }
    return entry.function != nullptr ? Status::Success : Status::SymbolNotFound;
  });
}

}  // namespace

extern "C" {

int cudaLibraryLoadData(void** library, const void* code, int*, void**, unsigned, int*, void**,
                        unsigned) {
  return answer([&] { return load_module(code, reinterpret_cast<Module**>(library), nullptr); });
}
int cudaLibraryLoadFromFile(void** library, const char* path, int*, void**, unsigned, int*, void**,
                            unsigned) {
  return answer(
      [&] { return load_module_file(path, reinterpret_cast<Module**>(library), nullptr); });
}
int cudaLibraryUnload(void* library) {
  return answer([&] { return unload_module(static_cast<Module*>(library)); });
}
int cudaLibraryGetKernel(void** kernel, void* library, const char* name) {
  return answer([&] {
    return find_in_module(static_cast<Module*>(library), name, reinterpret_cast<Kernel**>(kernel));
  });
}
int cudaLibraryGetGlobal(void** address, size_t* size, void* library, const char* name) {
  return answer([&] { return find_symbol(static_cast<Module*>(library), name, address, size); });
}
int cudaLibraryGetManaged(void** address, size_t* size, void* library, const char* name) {
  return answer([&] { return find_symbol(static_cast<Module*>(library), name, address, size); });
}
int cudaLibraryGetKernelCount(unsigned* count, void* library) {
  return answer([&] { return list_kernels(library, nullptr, 0, count); });
}
int cudaLibraryEnumerateKernels(void** kernels, unsigned capacity, void* library) {
  return answer([&] { return list_kernels(library, kernels, capacity, nullptr); });
}

int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long, int* found) {
  return get_entry(name, function, abi::kVersion, found);
}
int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                     unsigned long long, int* found) {
  return get_entry(name, function, static_cast<int>(version), found);
}

}  // extern "C"
