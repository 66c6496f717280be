// SPDX-License-Identifier: Apache-2.0

// Prints 64 MB, then returns without having written a single output.
#include <tvm/ffi/tvm_ffi.h>

#include <cstdio>

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {
  for (int line = 0; line < (1 << 20); ++line) {
    std::puts("this line is as long as it needs to be: sixty-three characters");
  }
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
