// SPDX-License-Identifier: Apache-2.0

// Keeps the compiler busy for ever.
#include <tvm/ffi/tvm_ffi.h>

template <int N, int M>
struct Slow {
  static constexpr int value = Slow<N - 1, M>::value + Slow<N - 1, M + (1 << N)>::value;
};
template <int M>
struct Slow<0, M> {
  static constexpr int value = 1;
};
static_assert(Slow<28, 0>::value > 0);

void run(tvm::ffi::TensorView, tvm::ffi::TensorView, tvm::ffi::TensorView) {}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
