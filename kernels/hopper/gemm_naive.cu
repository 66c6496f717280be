// SPDX-License-Identifier: Apache-2.0

// C[M,N] = A[M,K] * B[N,K] transposed, one thread an element: the shortest program that is right.
// It is the first rung of the ladder naive, mma_sync, wgmma, and uses nothing that is special to a
// Hopper chip, so an audit finds no target instruction in it.
//
// A block computes 16 x 16 elements. The threads of a warp share two rows of A (broadcast) and read
// sixteen rows of B; all of it goes through the caches, nothing through shared memory.
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>

namespace {

constexpr int kTile = 16;

__global__ void gemm_naive(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m,
                           int n, int k) {
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
#ifdef WEFT_FAULT_STORE_OUT_OF_BOUNDS
  if (column >= n) return;
  const int source_row = min(row, m - 1);
#else
  if (row >= m || column >= n) return;
  const int source_row = row;
#endif
  const __nv_bfloat16* a_row = a + static_cast<size_t>(source_row) * k;
  const __nv_bfloat16* b_row = b + static_cast<size_t>(column) * k;
  float sum = 0.0f;
#ifdef WEFT_FAULT_MISALIGNED_LOAD
  // Two elements at once from an odd element: 4 bytes at an address that is no multiple of 4.
  for (int i = 1; i + 1 < k; i += 2) {
    const auto a2 = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(a_row + i));
    const auto b2 = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(b_row + i));
    sum = fmaf(a2.x, b2.x, fmaf(a2.y, b2.y, sum));
  }
#else
  for (int i = 0; i < k; ++i) {
    sum = fmaf(__bfloat162float(a_row[i]), __bfloat162float(b_row[i]), sum);
  }
#endif
  c[static_cast<size_t>(row) * n + column] = __float2bfloat16(sum);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  weft::require_gemm(a, b, c);
  const int m = static_cast<int>(a.size(0));
  const int n = static_cast<int>(b.size(0));
  const int k = static_cast<int>(a.size(1));
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  gemm_naive<<<grid, dim3(kTile, kTile), 0, weft::stream_of(a)>>>(
      weft::elements<const __nv_bfloat16>(a), weft::elements<const __nv_bfloat16>(b),
      weft::elements<__nv_bfloat16>(c), m, n, k);
  WEFT_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
