// SPDX-License-Identifier: Apache-2.0

// C[M,N] = A[M,K] * B[N,K] transposed for Blackwell, with what gemm_tcgen05.cu does without: A goes
// through registers into tensor memory (tcgen05.st) and is multiplied from there, and the two
// blocks of a cluster share B, half a tile loaded by each into both. Expected: PASSED.
//
//   columns of tensor memory   0..127 sums   128..159 a step's 64 bf16 of A, two to a column
//   empty: 2 arrivals, each block's commit; both blocks may then be written again
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>
#include <weft/mbarrier.cuh>
#include <weft/mma.cuh>
#include <weft/tcgen05.cuh>
#include <weft/tma.cuh>
#include <weft/warp.cuh>

namespace {

constexpr int kRows = 128;
constexpr int kColumns = 128;
constexpr int kTileK = 64;
constexpr uint16_t kBothBlocks = 3;
constexpr uint32_t kTileBytes = kColumns * kTileK * 2;
constexpr uint32_t kTaken = 256;  // columns
constexpr uint32_t kOperand = 128;

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(kRows, 1)
    product(const __grid_constant__ CUtensorMap map_b, const __nv_bfloat16* a, __nv_bfloat16* c,
            int m, int n, int k) {
  extern __shared__ uint8_t dynamic_shared[];
  const uint32_t tile = (weft::shared_address(dynamic_shared) + 1023) & ~1023u;
  const uint32_t full = tile + kTileBytes, empty = full + 8, taken = full + 16;
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    weft::barrier_init(full, 1);
    weft::barrier_init(empty, 2);
    weft::fence_barrier_init();
  }
  if (warp == 1) weft::tensor_memory_take(taken, kTaken);
  weft::tensor_fence_before();
  weft::cluster_sync();
  weft::tensor_fence_after();
  uint32_t memory;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(memory) : "r"(taken));

  const uint32_t rank = weft::cluster_block_rank(), lanes = static_cast<uint32_t>(warp * 32) << 16;
  const int row = blockIdx.x * kRows + threadIdx.x, column = blockIdx.y * kColumns;
  const int steps = (k + kTileK - 1) / kTileK;
  for (int step = 0; step < steps; ++step) {
    weft::barrier_wait(empty, (step & 1) ^ 1);
    if (threadIdx.x == 0) {
      weft::barrier_arrive_expect(full, kTileBytes);
      weft::tma_load_multicast(tile + rank * kTileBytes / 2, map_b, full, kBothBlocks,
                               step * kTileK, column + static_cast<int>(rank) * kColumns / 2);
    }
    __syncwarp();
    uint32_t words[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const int at = step * kTileK + 2 * i;
      words[i] = row < m && at < k
                     ? *reinterpret_cast<const uint32_t*>(a + static_cast<size_t>(row) * k + at)
                     : 0;
    }
    weft::tensor_store(memory + kOperand + lanes, words);
    weft::tensor_store_wait();
    weft::tensor_fence_before();
    __syncthreads();
    if (warp == 1 && weft::elect_one_lane()) {
      weft::tensor_fence_after();
      weft::barrier_wait(full, step & 1);
#pragma unroll
      for (int part = 0; part < kTileK / 16; ++part)
        weft::tensor_product_from_memory(
            memory, memory + kOperand + part * 8, weft::tensor_tile(tile + part * 32),
            weft::bf16_product<kRows, kColumns>(), step > 0 || part > 0);
      weft::tensor_commit_to_blocks(empty, kBothBlocks);
    }
    __syncwarp();
  }
  weft::barrier_wait(empty, (steps - 1) & 1);
  __syncwarp();
  weft::tensor_fence_after();
#pragma unroll
  for (int part = 0; part < kColumns; part += 32) {
    uint32_t sums[32];
    weft::tensor_load(sums, memory + lanes + part);
    weft::tensor_load_wait();
#pragma unroll
    for (int i = 0; i < 32; ++i)
      if (row < m && column + part + i < n)
        c[static_cast<size_t>(row) * n + column + part + i] =
            __float2bfloat16(__uint_as_float(sums[i]));
  }
  weft::tensor_fence_before();
  // The other block's commit still arrives here.
  weft::cluster_sync();
  if (warp == 1) weft::tensor_memory_give_back(memory, kTaken);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  weft::require_gemm(a, b, c);
  const uint64_t m = a.size(0), n = b.size(0), k = a.size(1);
  TVM_FFI_CHECK(k % 8 == 0, ValueError) << "K must be a multiple of 8, not " << k;
  const CUtensorMap map_b =
      weft::bf16_tensor_map<2>(weft::elements<void>(b), {k, n}, {k * 2}, {kTileK, kColumns / 2});
  const dim3 grid(static_cast<unsigned>((m + 2 * kRows - 1) / (2 * kRows) * 2),
                  static_cast<unsigned>((n + kColumns - 1) / kColumns));
  product<<<grid, kRows, kTileBytes + 1024 + 32, weft::stream_of(a)>>>(
      map_b, weft::elements<__nv_bfloat16>(a), weft::elements<__nv_bfloat16>(c),
      static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
  WEFT_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
