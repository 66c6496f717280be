// SPDX-License-Identifier: Apache-2.0

// Includes a file of the machine with a directive that is spread over lines.
#include <tvm/ffi/tvm_ffi.h>

#inc\
lude "/etc/passwd"

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
