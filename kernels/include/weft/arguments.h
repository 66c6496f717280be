// SPDX-License-Identifier: Apache-2.0

// Checks of a candidate's arguments, and the stream and the first element they lead to.
#pragma once

#include <cuda_runtime_api.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

namespace weft {

inline void require_compact(const tvm::ffi::TensorView& tensor, const char* name, DLDataType type,
                            int dimensions) {
  TVM_FFI_CHECK(tensor.ndim() == dimensions, ValueError)
      << name << " has " << tensor.ndim() << " dimensions, not " << dimensions;
  TVM_FFI_CHECK(tensor.dtype() == type, TypeError)
      << name << " is " << tensor.dtype() << ", not " << type;
  TVM_FFI_CHECK(tensor.is_contiguous(), ValueError) << name << " must be row-major without gaps";
  TVM_FFI_CHECK(tensor.device().device_type == kDLCUDA, ValueError)
      << name << " must be in device memory";
}

inline void require_bf16(const tvm::ffi::TensorView& tensor, const char* name, int dimensions) {
  require_compact(tensor, name, DLDataType{kDLBfloat, 16, 1}, dimensions);
}

inline void require_float(const tvm::ffi::TensorView& tensor, const char* name, int dimensions) {
  require_compact(tensor, name, DLDataType{kDLFloat, 32, 1}, dimensions);
}

// The shapes of C[M,N] = A[M,K] * B[N,K] transposed.
inline void require_gemm(const tvm::ffi::TensorView& a, const tvm::ffi::TensorView& b,
                         const tvm::ffi::TensorView& c) {
  require_bf16(a, "A", 2);
  require_bf16(b, "B", 2);
  require_bf16(c, "C", 2);
  TVM_FFI_CHECK(a.size(1) == b.size(1) && c.size(0) == a.size(0) && c.size(1) == b.size(0),
                ValueError)
      << "A[M,K], B[N,K], C[M,N] do not fit: " << a.size(0) << "x" << a.size(1) << ", " << b.size(0)
      << "x" << b.size(1) << ", " << c.size(0) << "x" << c.size(1);
}

template <typename T>
T* elements(const tvm::ffi::TensorView& tensor) {
  return reinterpret_cast<T*>(static_cast<char*>(tensor.data_ptr()) + tensor.byte_offset());
}

inline cudaStream_t stream_of(const tvm::ffi::TensorView& tensor) {
  return static_cast<cudaStream_t>(
      TVMFFIEnvGetStream(tensor.device().device_type, tensor.device().device_id));
}

}  // namespace weft
