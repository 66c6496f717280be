// SPDX-License-Identifier: Apache-2.0

// Puts a file of the machine into the object through the assembler.
#include <tvm/ffi/tvm_ffi.h>

__asm__(".section .rodata\nsecret: .inc" "bin \"/etc/passwd\"\n.previous");

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
