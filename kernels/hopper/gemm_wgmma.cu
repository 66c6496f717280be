// SPDX-License-Identifier: Apache-2.0

// C[M,N] = A[M,K] * B[N,K] transposed in bf16 with float32 sums, the Hopper way: TMA brings tiles
// into a ring of shared buffers, mbarriers say when they are full or empty, wgmma multiplies, TMA
// takes C back. Any M; K and N multiples of 8 (TMA strides are multiples of 16 bytes).
//
//   block of 3 warpgroups, 128 x 256 of C
//   warpgroup 0     producer: one lane keeps the copy engine busy, gives its registers away
//   warpgroup 1, 2  consumers: 64 x 256 of C each, in 128 registers a thread
//
//   ring of 4 stages          full[s]: 1 arrival (the producer) + 49152 bytes
//   +---------+-----------+   empty[s]: 1 arrival of each of the 8 consumer warps of the cluster's
//   | A 16 KB |  B 32 KB  |             every block
//   +---------+-----------+   plus 16 KB per consumer to stage C
//
// Two blocks form a cluster: tiles one above the other need the same B, so each loads one half of
// it and multicasts to both, which takes a third off the traffic from L2. Blocks are persistent:
// each takes every gridDim-th tile, and the producer already loads the next tile while the
// consumers store.
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>
#include <weft/mbarrier.cuh>
#include <weft/mma.cuh>
#include <weft/tma.cuh>
#include <weft/warp.cuh>
#include <weft/wgmma.cuh>

#include <algorithm>

namespace {

constexpr int kTileM = 128;
constexpr int kTileN = 256;
constexpr int kTileK = 64;  // 128 bytes, the width of the swizzle
constexpr int kStages = 4;
constexpr int kConsumers = 2;
constexpr int kConsumerWarps = 4 * kConsumers;
constexpr int kThreads = 128 * (1 + kConsumers);

constexpr uint32_t kBytesA = kTileM * kTileK * 2;
constexpr uint32_t kBytesB = kTileN * kTileK * 2;
constexpr uint32_t kStageBytes = kBytesA + kBytesB;
constexpr uint32_t kSliceBytes = 64 * 64 * 2;  // 64 rows of 64 columns of C
constexpr uint32_t kStagingBytes = 2 * kSliceBytes;
constexpr uint32_t kSharedBytes =
    kStages * kStageBytes + kConsumers * kStagingBytes + 2 * kStages * 8 + 1024;

// Tiles are visited in bands of this many cluster rows, column by column, so that the tiles in
// flight form a near square and share their rows and columns in L2.
constexpr int kBandRows = 8;

struct Tile {
  int row;
  int column;
};

template <int kClusterBlocks>
__device__ __forceinline__ Tile tile_at(int index, int cluster_rows, int columns, uint32_t rank) {
  const int band = index / (kBandRows * columns);
  const int within = index % (kBandRows * columns);
  const int band_height = min(kBandRows, cluster_rows - band * kBandRows);
  const int cluster_row = band * kBandRows + within % band_height;
  return {(cluster_row * kClusterBlocks + static_cast<int>(rank)) * kTileM,
          within / band_height * kTileN};
}

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

struct SharedLayout {
  uint32_t ring;
  uint32_t staging;
  uint32_t barriers;
  __device__ __forceinline__ uint32_t tile_a(int stage) const { return ring + stage * kStageBytes; }
  __device__ __forceinline__ uint32_t tile_b(int stage) const { return tile_a(stage) + kBytesA; }
  __device__ __forceinline__ uint32_t full(int stage) const { return barriers + stage * 8; }
  __device__ __forceinline__ uint32_t empty(int stage) const {
    return barriers + (kStages + stage) * 8;
  }
};

template <int kClusterBlocks>
__device__ __forceinline__ void produce(const CUtensorMap& map_a, const CUtensorMap& map_b,
                                        const SharedLayout& shared, int tiles, int cluster_rows,
                                        int columns, int steps, uint32_t rank) {
  RingPosition at;
  for (int index = blockIdx.x / kClusterBlocks; index < tiles;
       index += gridDim.x / kClusterBlocks) {
    const Tile tile = tile_at<kClusterBlocks>(index, cluster_rows, columns, rank);
    for (int step = 0; step < steps; ++step, at.advance()) {
      const uint32_t full = shared.full(at.stage);
      weft::barrier_wait(shared.empty(at.stage), at.parity ^ 1);
      weft::barrier_arrive_expect(full, kStageBytes);
      weft::tma_load(shared.tile_a(at.stage), map_a, full, step * kTileK, tile.row);
      if constexpr (kClusterBlocks == 1) {
        weft::tma_load(shared.tile_b(at.stage), map_b, full, step * kTileK, tile.column);
      } else {
        // This block's share of B goes to all blocks. The others' shares arrive here unasked; they
        // may even arrive before this block's expect_tx, since the barrier still lacks its arrival.
        constexpr int kShareRows = kTileN / kClusterBlocks;
        weft::tma_load_multicast(shared.tile_b(at.stage) + rank * kShareRows * kTileK * 2, map_b,
                                 full, (1 << kClusterBlocks) - 1, step * kTileK,
                                 tile.column + static_cast<int>(rank) * kShareRows);
      }
    }
  }
}

// Rounds 64 x 256 sums to bf16 and stores them in four slices of 64 columns through two buffers:
// while the copy engine reads one, the other is filled. Rows past M and columns past N are dropped
// by TMA.
__device__ __forceinline__ void store_tile(const CUtensorMap& map_c, const float (&sums)[128],
                                           uint32_t staging, int barrier_id, int row, int column) {
  const int thread = threadIdx.x % 128;
  const int lane = thread % 32;
  // stmatrix: lanes 0-7 name the rows of the first 8x8 matrix, 8-15 of the one below it, 16-31 of
  // the two to the right.
  const int tile_row = thread / 32 * 16 + lane % 16;
  const uint32_t row_address = staging + tile_row * 128;
#pragma unroll
  for (int slice = 0; slice < 4; ++slice) {
    const uint32_t buffer = (slice % 2) * kSliceBytes;
    if (thread == 0) weft::tma_store_wait_read<1>();
    weft::named_barrier_sync(barrier_id, 128);
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      const int base = slice * 32 + pair * 8;
      const int chunk = pair * 2 + lane / 16;
      weft::store_matrices(row_address + buffer + ((chunk ^ (tile_row % 8)) * 16),
                           weft::pack_bf16(sums[base + 0], sums[base + 1]),
                           weft::pack_bf16(sums[base + 2], sums[base + 3]),
                           weft::pack_bf16(sums[base + 4], sums[base + 5]),
                           weft::pack_bf16(sums[base + 6], sums[base + 7]));
    }
    weft::fence_async_proxy();
    weft::named_barrier_sync(barrier_id, 128);
    if (thread == 0) {
      weft::tma_store(map_c, staging + buffer, column + slice * 64, row);
      weft::tma_store_commit();
    }
  }
}

template <int kClusterBlocks>
__device__ __forceinline__ void consume(const CUtensorMap& map_c, const SharedLayout& shared,
                                        int tiles, int cluster_rows, int columns, int steps,
                                        uint32_t rank) {
  const int consumer = threadIdx.x / 128 - 1;
  const int lane = threadIdx.x % 32;
  float sums[kTileN / 2];

  // One lane of the warp tells each block of the cluster that this warp is done with a stage: every
  // block multicasts into this one's buffers, so all of them must know.
  auto release = [&](int stage) {
    if (lane < kClusterBlocks) {
      if constexpr (kClusterBlocks == 1) {
        weft::barrier_arrive(shared.empty(stage));
      } else {
        weft::barrier_arrive_in_block(shared.empty(stage), lane);
      }
    }
  };

  RingPosition at;
  for (int index = blockIdx.x / kClusterBlocks; index < tiles;
       index += gridDim.x / kClusterBlocks) {
    const Tile tile = tile_at<kClusterBlocks>(index, cluster_rows, columns, rank);
    int previous = 0;
    for (int step = 0; step < steps; ++step, at.advance()) {
#ifndef WEFT_FAULT_MISSING_FULL_WAIT
      weft::barrier_wait(shared.full(at.stage), at.parity);
#endif
      const uint32_t a = shared.tile_a(at.stage) + consumer * 64 * kTileK * 2;
      const uint32_t b = shared.tile_b(at.stage);
      weft::wgmma_fence();
#pragma unroll
      for (int k = 0; k < kTileK / 16; ++k) {
        // Sixteen columns of K are 32 bytes inside the swizzled row.
        weft::wgmma_ss(sums, weft::swizzled_tile(a + k * 32), weft::swizzled_tile(b + k * 32),
                       step > 0 || k > 0);
      }
      weft::wgmma_commit();
      // One step stays in flight. The one before has finished, so its buffers are free.
      if (step > 0) {
        weft::wgmma_wait<1>();
        release(previous);
      }
      previous = at.stage;
    }
#ifndef WEFT_FAULT_MISSING_WGMMA_WAIT
    weft::wgmma_wait<0>();
#endif
    weft::pin_registers(sums);
    release(previous);
    store_tile(map_c, sums, shared.staging + consumer * kStagingBytes, 1 + consumer,
               tile.row + consumer * 64, tile.column);
  }
  // The staging buffers must outlive the copies that read them.
  if (threadIdx.x % 128 == 0) weft::tma_store_wait<0>();
}

template <int kClusterBlocks>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_wgmma(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
               const __grid_constant__ CUtensorMap map_c, int cluster_rows, int columns,
               int steps) {
  extern __shared__ uint8_t dynamic_shared[];
  SharedLayout shared;
  shared.ring = (weft::shared_address(dynamic_shared) + 1023) & ~1023u;
  shared.staging = shared.ring + kStages * kStageBytes;
  shared.barriers = shared.staging + kConsumers * kStagingBytes;
  const uint32_t rank = kClusterBlocks == 1 ? 0 : weft::cluster_block_rank();

  if (threadIdx.x == 0) {
    weft::tma_prefetch_map(map_a);
    weft::tma_prefetch_map(map_b);
    weft::tma_prefetch_map(map_c);
    for (int stage = 0; stage < kStages; ++stage) {
      weft::barrier_init(shared.full(stage), 1);
#ifdef WEFT_FAULT_BARRIER_COUNT
      weft::barrier_init(shared.empty(stage), kConsumerWarps * kClusterBlocks + 1);
#else
      weft::barrier_init(shared.empty(stage), kConsumerWarps * kClusterBlocks);
#endif
    }
    weft::fence_barrier_init();
  }
  // No block may signal another one's barriers before they exist.
  if constexpr (kClusterBlocks == 1) {
    __syncthreads();
  } else {
    weft::cluster_sync();
  }

  const int tiles = cluster_rows * columns;
  if (threadIdx.x < 128) {
    weft::release_registers<40>();
    if (threadIdx.x < 32 && weft::elect_one_lane()) {
      produce<kClusterBlocks>(map_a, map_b, shared, tiles, cluster_rows, columns, steps, rank);
    }
    __syncwarp();
  } else {
    weft::acquire_registers<232>();
    consume<kClusterBlocks>(map_c, shared, tiles, cluster_rows, columns, steps, rank);
  }
  // No block may leave while the others still signal its barriers.
  if constexpr (kClusterBlocks > 1) weft::cluster_sync();
}

template <int kClusterBlocks>
void launch(const CUtensorMap& map_a, const CUtensorMap& map_b, const CUtensorMap& map_c, int m,
            int n, int k, int device, cudaStream_t stream) {
  const int cluster_rows = (m + kTileM * kClusterBlocks - 1) / (kTileM * kClusterBlocks);
  const int columns = (n + kTileN - 1) / kTileN;
  const int steps = (k + kTileK - 1) / kTileK;
  int multiprocessors = 0;
  WEFT_CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const int clusters = std::min(multiprocessors / kClusterBlocks, cluster_rows * columns);

  WEFT_CUDA_CHECK(cudaFuncSetAttribute(gemm_wgmma<kClusterBlocks>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = kClusterBlocks;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(clusters * kClusterBlocks);
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = kSharedBytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  WEFT_CUDA_CHECK(cudaLaunchKernelEx(&config, gemm_wgmma<kClusterBlocks>, map_a, map_b, map_c,
                                     cluster_rows, columns, steps));
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  weft::require_gemm(a, b, c);
  const uint64_t m = a.size(0);
  const uint64_t n = b.size(0);
  const uint64_t k = a.size(1);
  TVM_FFI_CHECK(n % 8 == 0 && k % 8 == 0, ValueError)
      << "N and K must be multiples of 8, not " << n << " and " << k;
  if (m == 0 || n == 0 || k == 0) return;

  // One row of tiles has nobody to share B with.
  const bool paired = m > kTileM;
#ifdef WEFT_FAULT_SWIZZLE
  const CUtensorMapSwizzle swizzle_a = CU_TENSOR_MAP_SWIZZLE_NONE;
#else
  const CUtensorMapSwizzle swizzle_a = CU_TENSOR_MAP_SWIZZLE_128B;
#endif
  const CUtensorMap map_a = weft::bf16_tensor_map<2>(weft::elements<void>(a), {k, m}, {k * 2},
                                                     {kTileK, kTileM}, swizzle_a);
  const CUtensorMap map_b =
      weft::bf16_tensor_map<2>(weft::elements<void>(b), {k, n}, {k * 2},
                               {kTileK, static_cast<uint32_t>(paired ? kTileN / 2 : kTileN)});
  const CUtensorMap map_c =
      weft::bf16_tensor_map<2>(weft::elements<void>(c), {n, m}, {n * 2}, {64, 64});

  const cudaStream_t stream = weft::stream_of(a);
  const auto launch_tiles = paired ? launch<2> : launch<1>;
  launch_tiles(map_a, map_b, map_c, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
               a.device().device_id, stream);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
