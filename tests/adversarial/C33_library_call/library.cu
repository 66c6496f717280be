// SPDX-License-Identifier: Apache-2.0

// Lets a library do the work.
#include <cublas_v2.h>
#include <tvm/ffi/tvm_ffi.h>

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {
  cublasHandle_t handle;
  cublasCreate(&handle);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
