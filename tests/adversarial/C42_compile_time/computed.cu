// SPDX-License-Identifier: Apache-2.0

// Includes a file of the machine under a computed name.
#include <tvm/ffi/tvm_ffi.h>

#define SECRET </etc/passwd>
#include SECRET

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
