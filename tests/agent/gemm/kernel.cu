// SPDX-License-Identifier: Apache-2.0

// C = A * transpose(B): tiles of 16 x 16 through shared memory.
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>

constexpr int kTile = 16;

__global__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m,
                         int n, int k) {
  __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile + 1];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  const int b_row = blockIdx.x * kTile + threadIdx.y;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    const int i = first + threadIdx.x;
    a_tile[threadIdx.y][threadIdx.x] = row < m && i < k ? __bfloat162float(a[size_t(row) * k + i]) : 0;
    b_tile[threadIdx.y][threadIdx.x] = b_row < n && i < k ? __bfloat162float(b[size_t(b_row) * k + i]) : 0;
    __syncthreads();
    for (int j = 0; j < kTile; ++j) sum += a_tile[threadIdx.y][j] * b_tile[threadIdx.x][j];
    __syncthreads();
  }
  if (row < m && column < n) c[size_t(row) * n + column] = __float2bfloat16(sum);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  const int m = a.size(0), n = b.size(0), k = a.size(1);
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  multiply<<<grid, dim3(kTile, kTile), 0, weft::stream_of(a)>>>(
      weft::elements<const __nv_bfloat16>(a), weft::elements<const __nv_bfloat16>(b),
      weft::elements<__nv_bfloat16>(c), m, n, k);
  WEFT_CUDA_CHECK(cudaGetLastError());
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
