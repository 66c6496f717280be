// SPDX-License-Identifier: Apache-2.0

// What nvcc's start-up code calls before main: the fat binary of each unit, then its kernels and
// variables. Nothing is parsed yet, so a program that never launches pays nothing.
#include <cstddef>

#include "ptxbench/cudart/module.h"
#include "ptxbench/cudart/runtime/edge.h"

using namespace weft::cudart;

extern "C" {

void** __cudaRegisterFatBinary(void* image) {
  return reinterpret_cast<void**>(register_image(image));
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void** handle) {
  release_module(reinterpret_cast<Module*>(handle));
}
void __cudaRegisterFunction(void** handle, const char* host_symbol, char*, const char* name, int,
                            void*, void*, void*, void*, int*) {
  register_kernel(reinterpret_cast<Module*>(handle), host_symbol, name);
}
void __cudaRegisterVar(void** handle, char* host_symbol, char*, const char* name, int, size_t size,
                       int, int) {
  register_variable(reinterpret_cast<Module*>(handle), host_symbol, name, size);
}
void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name, int,
                              size_t size, int, int) {
  register_managed(reinterpret_cast<Module*>(handle), host_pointer, name, size);
}
// Called before the host touches a __managed__ variable for the first time.
char __cudaInitModule(void** handle) {
  return answer([&] { return reinterpret_cast<Module*>(handle)->load(); }) == 0;
}

}  // extern "C"
