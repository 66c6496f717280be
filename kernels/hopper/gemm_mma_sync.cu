// SPDX-License-Identifier: Apache-2.0

// C[M,N] = A[M,K] * B[N,K] transposed with the instructions of the generation before Hopper:
// cp.async fills a ring of shared tiles, ldmatrix reads fragments, mma.sync multiplies. It runs on
// any chip since sm_80 and shows what wgmma and TMA replace: here every thread copies, computes
// addresses and moves operands through registers.
//
//   block of 8 warps, 128 x 128 of C; warp grid 2 x 4, a warp owns 64 x 32 = 4 x 4 mma tiles of 16
//   x 8 ring of 4 stages of 32 columns of K: A 8 KB + B 8 KB each
//
// A shared row is 64 bytes, four chunks of 16. Chunk c of row r lies at chunk c ^ (r/2 mod 4):
// eight rows below each other, which one ldmatrix phase reads, then fall into eight different
// groups of banks, and so do the stores.
//
// Any M; even N; K a multiple of 8 (cp.async moves 16 bytes).
#include <cuda_bf16.h>
#include <weft/arguments.h>
#include <weft/tensor_map.h>
#include <weft/mbarrier.cuh>
#include <weft/mma.cuh>

namespace {

constexpr int kTileM = 128;
constexpr int kTileN = 128;
constexpr int kTileK = 32;
constexpr int kStages = 4;
constexpr int kThreads = 256;
constexpr int kWarpM = 64;
constexpr int kWarpN = 32;
constexpr int kRowBytes = kTileK * 2;
constexpr uint32_t kBytesA = kTileM * kRowBytes;
constexpr uint32_t kStageBytes = kBytesA + kTileN * kRowBytes;
constexpr uint32_t kSharedBytes = kStages * kStageBytes;

__device__ __forceinline__ uint32_t swizzled(int row, int chunk) {
  return row * kRowBytes + ((chunk ^ (row / 2 % 4)) * 16);
}

// Starts the copy of 128 rows of 32 columns of K. Rows and columns outside the matrix become zeros;
// the address of such a chunk is that of the matrix itself, which is legal and not read.
__device__ __forceinline__ void copy_tile(uint32_t destination, const __nv_bfloat16* matrix,
                                          int first_row, int rows, int first_k, int k) {
#pragma unroll
  for (int pass = 0; pass < 2; ++pass) {
    const int index = pass * kThreads + threadIdx.x;
    const int row = index / 4;
    const int chunk = index % 4;
    const int column = first_k + chunk * 8;
    const bool inside = first_row + row < rows && column < k;
    const __nv_bfloat16* source =
        inside ? matrix + static_cast<size_t>(first_row + row) * k + column : matrix;
    weft::copy_async_16(destination + swizzled(row, chunk), source, inside ? 16 : 0);
  }
}

__global__ void __launch_bounds__(kThreads, 2)
    gemm_mma_sync(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n,
                  int k) {
  extern __shared__ __align__(128) uint8_t dynamic_shared[];
  const uint32_t ring = weft::shared_address(dynamic_shared);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int tile_row = blockIdx.y * kTileM;
  const int tile_column = blockIdx.x * kTileN;
  const int warp_row = warp / 4 * kWarpM;
  const int warp_column = warp % 4 * kWarpN;
  const int steps = (k + kTileK - 1) / kTileK;

  // One group is committed a step, empty past the end, so that "all but the last two groups" always
  // means the tile that is needed next.
  const auto copy_step = [&](int step) {
    if (step < steps) {
      const uint32_t stage = ring + step % kStages * kStageBytes;
      copy_tile(stage, a, tile_row, m, step * kTileK, k);
      copy_tile(stage + kBytesA, b, tile_column, n, step * kTileK, k);
    }
    weft::copy_async_commit();
  };
  for (int step = 0; step < kStages - 1; ++step) copy_step(step);

  float sums[4][4][4] = {};
  for (int step = 0; step < steps; ++step) {
#ifndef WEFT_FAULT_MISSING_COPY_WAIT
    weft::copy_async_wait<kStages - 2>();
#endif
    // Everyone's part of this tile has landed, and everyone is done with the tile that the next
    // copy overwrites.
    __syncthreads();
    copy_step(step + kStages - 1);

    const uint32_t stage_a = ring + step % kStages * kStageBytes;
    const uint32_t stage_b = stage_a + kBytesA;
#pragma unroll
    for (int half = 0; half < kTileK / 16; ++half) {
      // A: the four 8x8 matrices of a 16x16 tile in the order of the mma registers: top left,
      // bottom left, top right, bottom right.
      uint32_t fragment_a[4][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = warp_row + i * 16 + lane % 16;
        weft::load_matrices(fragment_a[i], stage_a + swizzled(row, half * 2 + lane / 16));
      }
      // B is stored as rows of N, so a plain load gives the column fragment. One load brings two
      // tiles of eight columns: matrices K low and K high of the first, then of the second.
      uint32_t fragment_b[2][4];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int row = warp_column + j * 16 + lane / 16 * 8 + lane % 8;
        weft::load_matrices(fragment_b[j], stage_b + swizzled(row, half * 2 + lane / 8 % 2));
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          weft::mma_m16n8k16(sums[i][j], fragment_a[i], fragment_b[j / 2][j % 2 * 2],
                             fragment_b[j / 2][j % 2 * 2 + 1]);
        }
      }
    }
  }

#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int column = tile_column + warp_column + j * 8 + lane % 4 * 2;
#pragma unroll
      for (int lower = 0; lower < 2; ++lower) {
        const int row = tile_row + warp_row + i * 16 + lane / 4 + lower * 8;
        if (row < m && column < n) {
          *reinterpret_cast<uint32_t*>(c + static_cast<size_t>(row) * n + column) =
              weft::pack_bf16(sums[i][j][2 * lower], sums[i][j][2 * lower + 1]);
        }
      }
    }
  }
}

void run(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c) {
  weft::require_gemm(a, b, c);
  const int m = static_cast<int>(a.size(0));
  const int n = static_cast<int>(b.size(0));
  const int k = static_cast<int>(a.size(1));
  TVM_FFI_CHECK(n % 2 == 0 && k % 8 == 0, ValueError)
      << "N must be even and K a multiple of 8, not " << n << " and " << k;
  if (m == 0 || n == 0) return;
  WEFT_CUDA_CHECK(cudaFuncSetAttribute(gemm_mma_sync, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       kSharedBytes));
  const dim3 grid((n + kTileN - 1) / kTileN, (m + kTileM - 1) / kTileM);
  gemm_mma_sync<<<grid, kThreads, kSharedBytes, weft::stream_of(a)>>>(
      weft::elements<const __nv_bfloat16>(a), weft::elements<const __nv_bfloat16>(b),
      weft::elements<__nv_bfloat16>(c), m, n, k);
  WEFT_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
