// SPDX-License-Identifier: Apache-2.0

// Takes host memory and uses it, until it is stopped or has one terabyte.
#include <tvm/ffi/tvm_ffi.h>

#include <cstdlib>
#include <cstring>

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {
  constexpr size_t kPiece = size_t{64} << 20;
  for (int piece = 0; piece < (1 << 14); ++piece) {
    void* memory = std::malloc(kPiece);
    if (memory == nullptr) TVM_FFI_THROW(RuntimeError) << "malloc failed";
    std::memset(memory, 1, kPiece);
  }
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
