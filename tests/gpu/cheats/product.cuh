// SPDX-License-Identifier: Apache-2.0

// The work that these cheats do, all of it or now and then.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

constexpr int kTile = 16;

// C = A * transpose(B), one thread an element.
__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m,
                        int n, int k) {
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += __bfloat162float(a[row * k + i]) * __bfloat162float(b[column * k + i]);
  c[row * n + column] = __float2bfloat16(sum);
}

void launch(const tvm::ffi::TensorView& a, const tvm::ffi::TensorView& b,
            const tvm::ffi::TensorView& c, cudaStream_t stream) {
  const int m = static_cast<int>(a.size(0)), n = static_cast<int>(b.size(0));
  const int k = static_cast<int>(a.size(1));
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), block(kTile, kTile);
  product<<<grid, block, 0, stream>>>(static_cast<const __nv_bfloat16*>(a.data_ptr()),
                                      static_cast<const __nv_bfloat16*>(b.data_ptr()),
                                      static_cast<__nv_bfloat16*>(c.data_ptr()), m, n, k);
}
