// SPDX-License-Identifier: Apache-2.0

// Includes a file of the machine with a directive that no pattern knows.
#include <tvm/ffi/tvm_ffi.h>

%:include "/etc/passwd"

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
