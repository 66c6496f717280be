// SPDX-License-Identifier: Apache-2.0

// Includes the environment of the compiler.
#include <tvm/ffi/tvm_ffi.h>

extern const char environment[] =
#inc\
lude "/proc/self/environ"
;

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
