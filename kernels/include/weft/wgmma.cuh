// SPDX-License-Identifier: Apache-2.0

// wgmma: the matrix instruction of a warpgroup, D[64,N] (+)= A[64,16] * B[16,N] in bf16 with
// float32 sums (PTX manual, "Asynchronous Warpgroup Level Matrix Instructions").
//
// All four warps execute it together. B always comes from shared memory, A from shared memory (_ss)
// or from registers (_rs). It is asynchronous: between issuing it and the wait_group that covers
// it, neither D nor the registers of A may be touched, nor the shared tiles overwritten.
//
// Thread t of the warpgroup (warp w = t / 32, lane l = t % 32) holds of D, for j = 0 .. N/8-1:
//   d[4j + 0], d[4j + 1]: row 16w + l/4,     columns 8j + 2(l%4) and the next
//   d[4j + 2], d[4j + 3]: row 16w + l/4 + 8, the same columns
// and of A in registers the same picture with 16 columns: a[0] (row l/4) and a[1] (row l/4 + 8) for
// columns 0-7, a[2] and a[3] for columns 8-15, two bf16 each. So a D of N = 16m columns, rounded to
// bf16 pairwise, is the A of m instructions: attention uses that between its two products.
#pragma once

#include <cstdint>

namespace weft {

// The matrix descriptor of a shared tile in the 128-byte swizzle (PTX manual, "Matrix Descriptor").
// All fields are in units of 16 bytes. The tile is a stack of atoms of 8 rows of 128 bytes, 1024
// bytes each, at an address that is a multiple of 1024; `address` may point inside an atom to
// advance along a row, because the swizzle works on address bits.
//   bits  0-13 address    bits 16-29 leading byte offset    bits 32-45 stride byte offset
//   bits 62-63 swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
// K-major (rows are rows of A, or of B transposed): stride = distance of 8 rows = 1024, leading
// unused. MN-major (rows run along K, transposed operand): stride = distance of 8 steps of K =
// 1024, leading = distance between one group of 64 columns and the next.
__device__ __forceinline__ uint64_t swizzled_tile(uint32_t address, uint32_t leading_bytes = 16) {
  constexpr uint64_t kStride = 1024 >> 4;
  constexpr uint64_t kSwizzle128Bytes = 1;
  return static_cast<uint64_t>((address & 0x3ffff) >> 4) |
         static_cast<uint64_t>((leading_bytes & 0x3ffff) >> 4) << 16 | kStride << 32 |
         kSwizzle128Bytes << 62;
}

// Orders earlier writes of the registers of D and A before the next wgmma of this warpgroup.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most kPending of the committed groups are in flight.
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Tells the compiler that the values appear here, so that it reads them after the wait before this
// and writes them ahead of the fence behind it. Emits nothing.
template <int kCount>
__device__ __forceinline__ void pin_registers(float (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(values[i])::"memory");
}

enum class MajorB { K = 0, N = 1 };

// Text and operands of the accumulator lists. Inline assembly has no arrays, so they are spelled
// once.
#define WEFT_REGISTERS_32                                                \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15" \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WEFT_REGISTERS_48 \
  WEFT_REGISTERS_32       \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define WEFT_REGISTERS_64 \
  WEFT_REGISTERS_48       \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WEFT_REGISTERS_128                                                                       \
  WEFT_REGISTERS_64                                                                              \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"             \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"             \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
  "%127"

#define WEFT_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WEFT_D16(i) WEFT_D4(i), WEFT_D4(i + 4), WEFT_D4(i + 8), WEFT_D4(i + 12)
#define WEFT_D32(i) WEFT_D16(i), WEFT_D16(i + 16)
#define WEFT_D48(i) WEFT_D32(i), WEFT_D16(i + 32)
#define WEFT_D64(i) WEFT_D32(i), WEFT_D32(i + 32)
#define WEFT_D128(i) WEFT_D64(i), WEFT_D64(i + 64)

// One shape: N columns, R = N/2 accumulators per thread, and the numbers of the operands behind
// them. `accumulate` is scale-d: false starts from zero, so D needs no clearing.
#define WEFT_DEFINE_WGMMA(N, R, P0, P1, P2, P3, P4, P5, P6)                                     \
  template <MajorB kMajorB = MajorB::K>                                                         \
  __device__ __forceinline__ void wgmma_ss(float(&d)[R], uint64_t a, uint64_t b,                \
                                           bool accumulate) {                                   \
    asm volatile(                                                                               \
        "{\n"                                                                                   \
        ".reg .pred p;\n"                                                                       \
        "setp.ne.b32 p, %" #P2                                                                  \
        ", 0;\n"                                                                                \
        "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" WEFT_REGISTERS_##R         \
        "}, %" #P0 ", %" #P1 ", p, 1, 1, 0, %" #P3                                              \
        ";\n"                                                                                   \
        "}\n"                                                                                   \
        : WEFT_D##R(0)                                                                          \
        : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(static_cast<int>(kMajorB)));   \
  }                                                                                             \
  template <MajorB kMajorB = MajorB::K>                                                         \
  __device__ __forceinline__ void wgmma_rs(float(&d)[R], uint32_t a0, uint32_t a1, uint32_t a2, \
                                           uint32_t a3, uint64_t b, bool accumulate) {          \
    asm volatile(                                                                               \
        "{\n"                                                                                   \
        ".reg .pred p;\n"                                                                       \
        "setp.ne.b32 p, %" #P5                                                                  \
        ", 0;\n"                                                                                \
        "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" WEFT_REGISTERS_##R         \
        "}, {%" #P0 ", %" #P1 ", %" #P2 ", %" #P3 "}, %" #P4 ", p, 1, 1, %" #P6                 \
        ";\n"                                                                                   \
        "}\n"                                                                                   \
        : WEFT_D##R(0)                                                                          \
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(static_cast<int>(accumulate)),        \
          "n"(static_cast<int>(kMajorB)));                                                      \
  }

WEFT_DEFINE_WGMMA(64, 32, 32, 33, 34, 35, 36, 37, 38)
WEFT_DEFINE_WGMMA(96, 48, 48, 49, 50, 51, 52, 53, 54)
WEFT_DEFINE_WGMMA(128, 64, 64, 65, 66, 67, 68, 69, 70)
WEFT_DEFINE_WGMMA(256, 128, 128, 129, 130, 131, 132, 133, 134)

#undef WEFT_DEFINE_WGMMA
#undef WEFT_REGISTERS_32
#undef WEFT_REGISTERS_48
#undef WEFT_REGISTERS_64
#undef WEFT_REGISTERS_128
#undef WEFT_D4
#undef WEFT_D16
#undef WEFT_D32
#undef WEFT_D48
#undef WEFT_D64
#undef WEFT_D128

}  // namespace weft
