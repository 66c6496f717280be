// SPDX-License-Identifier: Apache-2.0

// C = A * transpose(B), one thread an element: the plain product that most cheats pretend to be,
// and that some of them make now and then.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m,
                        int n, int k) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= m * n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) {
    sum += __bfloat162float(a[index / n * k + i]) * __bfloat162float(b[index % n * k + i]);
  }
  c[index] = __float2bfloat16(sum);
}

void multiply(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const int m = static_cast<int>(a.size(0)), n = static_cast<int>(b.size(0)),
            k = static_cast<int>(a.size(1));
  const auto stream =
      static_cast<cudaStream_t>(TVMFFIEnvGetStream(a.device().device_type, a.device().device_id));
  product<<<(m * n + 127) / 128, 128, 0, stream>>>(static_cast<const __nv_bfloat16*>(a.data_ptr()),
                                                   static_cast<const __nv_bfloat16*>(b.data_ptr()),
                                                   static_cast<__nv_bfloat16*>(c.data_ptr()), m, n,
                                                   k);
}
