// SPDX-License-Identifier: Apache-2.0

// Lacks a semicolon in line 6.
#include <tvm/ffi/tvm_ffi.h>

int broken = 1 void run(tvm::ffi::TensorView) {}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
