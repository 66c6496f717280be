// SPDX-License-Identifier: Apache-2.0

// C[M,N] = A[M,K] * B[N,K] transposed in bf16 with float32 sums, by pairs of blocks: one product of
// the tensor core is 256 x 256 and takes its operands from the shared memory of both, so each block
// loads half of A and half of B only. Any M; K and N multiples of 8.
//
//   pair of blocks, 256 x 256 of C      block r holds rows 128 r of A and columns 128 r of B, and
//                                       in its tensor memory rows 128 r of D, all 256 columns
//   warp 0, each block    one lane loads the block's halves; the bytes count in block 0
//   warp 1, block 0       one lane issues the products of both
//   all                   each thread fetches one row of 256 sums, rounds it and stores it
//
//   ring of 4 stages in each block
//   +---------+---------+     full[s], block 0: 1 arrival + 65536 bytes, of four loads
//   | A 16 KB | B 16 KB |     empty[s], each block: 1 arrival, the commit of the products
//   +---------+---------+     done, each block: 1 arrival, the commit of all products
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>
#include <weft/mbarrier.cuh>
#include <weft/mma.cuh>
#include <weft/tcgen05.cuh>
#include <weft/tma.cuh>
#include <weft/warp.cuh>

namespace {

constexpr int kTile = 256;  // rows and columns of a pair
constexpr int kHalf = kTile / 2;
constexpr int kTileK = 64;  // 128 bytes, the width of the swizzle
constexpr int kStages = 4;
constexpr int kThreads = 128;

constexpr uint32_t kOperandBytes = kHalf * kTileK * 2;
constexpr uint32_t kStageBytes = 2 * kOperandBytes;
constexpr uint32_t kSharedBytes = kStages * kStageBytes + (2 * kStages + 2) * 8 + 1024;
constexpr uint16_t kBothBlocks = 3;

struct SharedLayout {
  uint32_t ring;
  uint32_t barriers;
  __device__ __forceinline__ uint32_t tile_a(int stage) const { return ring + stage * kStageBytes; }
  __device__ __forceinline__ uint32_t tile_b(int stage) const {
    return tile_a(stage) + kOperandBytes;
  }
  __device__ __forceinline__ uint32_t full(int stage) const { return barriers + stage * 8; }
  __device__ __forceinline__ uint32_t empty(int stage) const { return full(kStages + stage); }
  __device__ __forceinline__ uint32_t done() const { return full(2 * kStages); }
  __device__ __forceinline__ uint32_t taken() const { return full(2 * kStages + 1); }
};

// The position in the ring. The parity flips each time round.
struct RingPosition {
  int stage = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

__device__ __forceinline__ void produce(const CUtensorMap& map_a, const CUtensorMap& map_b,
                                        const SharedLayout& shared, uint32_t rank, int row,
                                        int column, int steps) {
  RingPosition at;
  for (int step = 0; step < steps; ++step, at.advance()) {
    weft::barrier_wait(shared.empty(at.stage), at.parity ^ 1);
    // Block 1 may be ahead: its bytes then count below zero until block 0 announces them.
    if (rank == 0) weft::barrier_arrive_expect(shared.full(at.stage), 2 * kStageBytes);
    const uint32_t full = weft::address_in_block(shared.full(at.stage), 0);
    weft::tma_load_for_pair(shared.tile_a(at.stage), map_a, full, step * kTileK, row);
    weft::tma_load_for_pair(shared.tile_b(at.stage), map_b, full, step * kTileK, column);
  }
}

__device__ __forceinline__ void multiply(const SharedLayout& shared, uint32_t sums, int steps) {
  constexpr uint32_t kInstruction = weft::bf16_product<kTile, kTile>();
  RingPosition at;
  for (int step = 0; step < steps; ++step, at.advance()) {
    weft::barrier_wait(shared.full(at.stage), at.parity);
    weft::tensor_fence_after();
#pragma unroll
    for (int k = 0; k < kTileK / 16; ++k) {
      // The same places in both blocks. Sixteen columns of K are 32 bytes inside the swizzled row.
      weft::tensor_product_of_pair(sums, weft::tensor_tile(shared.tile_a(at.stage) + k * 32),
                                   weft::tensor_tile(shared.tile_b(at.stage) + k * 32),
                                   kInstruction, step > 0 || k > 0);
    }
#ifdef WEFT_FAULT_COMMIT_TO_ONE_BLOCK
    weft::tensor_commit_of_pair(shared.empty(at.stage), 1);
#else
    weft::tensor_commit_of_pair(shared.empty(at.stage), kBothBlocks);
#endif
  }
  weft::tensor_commit_of_pair(shared.done(), kBothBlocks);
}

// One row of C to a thread, 32 columns at a time.
__device__ __forceinline__ void store_row(__nv_bfloat16* c, uint32_t sums, int row, int column,
                                          int m, int n) {
  const uint32_t lane = (threadIdx.x / 32) * 32;
#pragma unroll
  for (int part = 0; part < kTile; part += 32) {
    uint32_t values[32];
    weft::tensor_load(values, sums + (lane << 16) + part);
    weft::tensor_load_wait();
    if (row >= m) continue;
#pragma unroll
    for (int i = 0; i < 32; i += 8) {
      if (column + part + i >= n) continue;
      uint4 packed;
      packed.x = weft::pack_bf16(__uint_as_float(values[i]), __uint_as_float(values[i + 1]));
      packed.y = weft::pack_bf16(__uint_as_float(values[i + 2]), __uint_as_float(values[i + 3]));
      packed.z = weft::pack_bf16(__uint_as_float(values[i + 4]), __uint_as_float(values[i + 5]));
      packed.w = weft::pack_bf16(__uint_as_float(values[i + 6]), __uint_as_float(values[i + 7]));
      *reinterpret_cast<uint4*>(c + static_cast<size_t>(row) * n + column + part + i) = packed;
    }
  }
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(kThreads, 1)
    gemm_tcgen05_pair(const __grid_constant__ CUtensorMap map_a,
                      const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* c, int m, int n,
                      int steps) {
  extern __shared__ uint8_t dynamic_shared[];
  SharedLayout shared;
  shared.ring = (weft::shared_address(dynamic_shared) + 1023) & ~1023u;
  shared.barriers = shared.ring + kStages * kStageBytes;
  const int warp = threadIdx.x / 32;
  const uint32_t rank = weft::cluster_block_rank();

  if (threadIdx.x == 0) {
    weft::tma_prefetch_map(map_a);
    weft::tma_prefetch_map(map_b);
    for (int stage = 0; stage < kStages; ++stage) {
      weft::barrier_init(shared.full(stage), 1);
      weft::barrier_init(shared.empty(stage), 1);
    }
    weft::barrier_init(shared.done(), 1);
    weft::fence_barrier_init();
  }
  // One warp of each block; both get the same columns.
  if (warp == 1) weft::tensor_memory_take_by_pair(shared.taken(), kTile);
  weft::tensor_fence_before();
  weft::cluster_sync();
  weft::tensor_fence_after();
  uint32_t sums;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(sums) : "r"(shared.taken()));

  const int row = static_cast<int>(blockIdx.x) * kHalf;
  const int column = static_cast<int>(blockIdx.y) * kTile;
  if (warp == 0 && weft::elect_one_lane())
    produce(map_a, map_b, shared, rank, row, column + static_cast<int>(rank) * kHalf, steps);
  if (warp == 1 && rank == 0 && weft::elect_one_lane()) multiply(shared, sums, steps);
  // Warps without a part in the loop sleep here; they would only poll.
  __syncthreads();
  weft::barrier_wait(shared.done(), 0);
  weft::tensor_fence_after();
  store_row(c, sums, row + static_cast<int>(threadIdx.x), column, m, n);
  weft::tensor_fence_before();
  weft::cluster_sync();
  if (warp == 1) weft::tensor_memory_give_back_by_pair(sums, kTile);
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  weft::require_gemm(a, b, c);
  const uint64_t m = a.size(0);
  const uint64_t n = b.size(0);
  const uint64_t k = a.size(1);
  TVM_FFI_CHECK(n % 8 == 0 && k % 8 == 0, ValueError)
      << "N and K must be multiples of 8, not " << n << " and " << k;
  if (m == 0 || n == 0 || k == 0) return;

  const CUtensorMap map_a =
      weft::bf16_tensor_map<2>(weft::elements<void>(a), {k, m}, {k * 2}, {kTileK, kHalf});
  const CUtensorMap map_b =
      weft::bf16_tensor_map<2>(weft::elements<void>(b), {k, n}, {k * 2}, {kTileK, kHalf});
  WEFT_CUDA_CHECK(cudaFuncSetAttribute(gemm_tcgen05_pair,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  const dim3 grid(2 * static_cast<unsigned>((m + kTile - 1) / kTile),
                  static_cast<unsigned>((n + kTile - 1) / kTile));
  gemm_tcgen05_pair<<<grid, kThreads, kSharedBytes, weft::stream_of(a)>>>(
      map_a, map_b, weft::elements<__nv_bfloat16>(c), static_cast<int>(m), static_cast<int>(n),
      static_cast<int>((k + kTileK - 1) / kTileK));
  WEFT_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
