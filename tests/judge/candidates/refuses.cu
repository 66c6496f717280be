// SPDX-License-Identifier: Apache-2.0

// Reports an error through the ABI.
#include <tvm/ffi/tvm_ffi.h>

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView, tvm::ffi::TensorView) {
  TVM_FFI_CHECK(a.size(0) == 7, ValueError) << "only 7 rows, not " << a.size(0);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
