// SPDX-License-Identifier: Apache-2.0

// C31: the first call leaves a kernel behind that never ends.
#include "product.cuh"

namespace {

__global__ void stay(volatile int* never) {
  while (*never == 0) {
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  static int* never = nullptr;
  if (never == nullptr) {
    cudaMalloc(&never, sizeof(int));
    cudaMemset(never, 0, sizeof(int));
    cudaStream_t hidden;
    cudaStreamCreateWithFlags(&hidden, cudaStreamNonBlocking);
    stay<<<1, 1, 0, hidden>>>(never);
  }
  launch(
      a, b, c,
      static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id)));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
