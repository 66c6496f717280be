// SPDX-License-Identifier: Apache-2.0

// Warp-level matrix instructions (sm_80 and later) and the loads and stores that feed them:
// mma.sync, ldmatrix, stmatrix, cp.async, and packing to bf16.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

namespace weft {

// D[16,8] += A[16,16] * B[16,8]. Lane l holds of A: a[0] row l/4, a[1] row l/4 + 8 (columns 2(l%4)
// and the next), a[2], a[3] the same eight columns further; of B: b[0] rows 2(l%4) and the next,
// b[1] eight rows further, column l/4; of D: d[0], d[1] row l/4, d[2], d[3] row l/4 + 8, columns
// 2(l%4) and next.
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                             uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Loads four 8x8 matrices of 16-bit elements; lane l gives the address of row l%8 of matrix l/8 and
// receives of each matrix row l/4, columns 2(l%4) and the next.
__device__ __forceinline__ void load_matrices(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

// The way back (sm_90).
__device__ __forceinline__ void store_matrices(uint32_t address, uint32_t r0, uint32_t r1,
                                               uint32_t r2, uint32_t r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(r0), "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}

// Copies 16 bytes without passing through registers; reads only `bytes` (0 or 16) and fills with
// zeros.
__device__ __forceinline__ void copy_async_16(uint32_t destination, const void* source,
                                              uint32_t bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(destination), "l"(source),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void copy_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int kPending>
__device__ __forceinline__ void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// Two floats to two bf16, round to nearest even, `low` in the lower half. The instruction takes the
// upper half first.
__device__ __forceinline__ uint32_t pack_bf16(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

}  // namespace weft
