// SPDX-License-Identifier: Apache-2.0

// C40: a thread of the candidate's keeps the whole device busy all the time, also while the library
// has its turn. A judge that compares medians would see a slow library.
#include <chrono>
#include <thread>

#include "product.cuh"
#include "wait.cuh"

namespace {

void disturb() {
  cudaStream_t hidden;
  cudaStreamCreateWithFlags(&hidden, cudaStreamNonBlocking);
  for (;;) {
    wait<<<1024, 1024, 0, hidden>>>(200000);
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  static bool started = false;
  if (!started) std::thread(disturb).detach();
  started = true;
  launch(
      a, b, c,
      static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id)));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
