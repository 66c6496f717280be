// SPDX-License-Identifier: Apache-2.0

// C21: the work, and five milliseconds of waiting before it, run on a stream of the candidate's own
// that is not joined. A judge that watches its own stream only would see no time at all.
#include "product.cuh"
#include "wait.cuh"

namespace {

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  static cudaStream_t hidden = [] {
    cudaStream_t made;
    cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    return made;
  }();
  wait<<<1, 1, 0, hidden>>>(5000000);
  launch(a, b, c, hidden);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
