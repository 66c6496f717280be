// SPDX-License-Identifier: Apache-2.0

// Writes through a null pointer on the host.
#include <tvm/ffi/tvm_ffi.h>

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {
  *static_cast<volatile int*>(nullptr) = 1;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
