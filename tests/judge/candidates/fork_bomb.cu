// SPDX-License-Identifier: Apache-2.0

// Doubles for ever.
#include <tvm/ffi/tvm_ffi.h>
#include <unistd.h>

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {
  for (;;) {
    fork();
    usleep(20000);
  }
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
