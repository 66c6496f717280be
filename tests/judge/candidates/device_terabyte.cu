// SPDX-License-Identifier: Apache-2.0

// Asks the device for one terabyte.
#include <cuda_runtime_api.h>
#include <tvm/ffi/tvm_ffi.h>

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, size_t{1} << 40);
  if (error != cudaSuccess)
    TVM_FFI_THROW(RuntimeError) << "cudaMalloc: " << cudaGetErrorName(error);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
