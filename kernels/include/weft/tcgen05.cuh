// SPDX-License-Identifier: Apache-2.0

// tcgen05: tensor memory and the tensor core of Blackwell (PTX manual, "TensorCore 5th Generation
// Family Instructions"), sm_100a.
//
// Tensor memory of a block has 128 lanes (rows of D) and 512 columns of 32 bits. An address holds
// the lane in its upper 16 bits and the column in its lower ones. Warp w reaches lanes 32 (w mod 4)
// and the 31 after it.
//
// One thread issues a product; it runs by itself. What says that it is done, with its operands as
// with its sums, is an mbarrier that a commit of the same thread names.
#pragma once

#include <cstdint>

#include <weft/tma.cuh>

namespace weft {

// One whole warp: takes `columns`, a power of two from 32 to 512, and writes their address to
// shared memory. The same warp gives them back before the block ends.
__device__ __forceinline__ void tensor_memory_take(uint32_t result, uint32_t columns) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(result),
               "r"(columns)
               : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void tensor_memory_give_back(uint32_t address, uint32_t columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns)
               : "memory");
}

// Order what this thread did in tensor memory against a barrier of threads or an mbarrier.
__device__ __forceinline__ void tensor_fence_before() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
__device__ __forceinline__ void tensor_fence_after() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// The shared tile that a product reads: rows of 128 bytes along K in the 128-byte swizzle, atoms of
// 8 rows 1024 bytes apart. As for wgmma, but the swizzle has three bits and bits 46-48 are 0b001.
//   bits 61-63 swizzle: 0 none, 2 128 bytes, 4 64 bytes, 6 32 bytes
// A tile with K across the rows (BMajor::N) has `leading` bytes from 64 columns to the next 64.
__device__ __forceinline__ uint64_t tensor_tile(uint32_t address, uint32_t leading = 16) {
  constexpr uint64_t kStride = 1024 >> 4;
  constexpr uint64_t kVersion = 1;
  constexpr uint64_t kSwizzle128Bytes = 2;
  return static_cast<uint64_t>((address & 0x3ffff) >> 4) |
         static_cast<uint64_t>(leading >> 4) << 16 | kStride << 32 | kVersion << 46 |
         kSwizzle128Bytes << 61;
}

// The instruction descriptor of a product in bf16 with float32 sums, both operands along K.
//   bits 4-5 type of D (1 float32)   7-9, 10-12 types of A, B (1 bf16)   17-22 N/8   24-28 M/16
//   bit 16 B lies with N along its rows
enum class BMajor { K, N };
template <int kRows, int kColumns, BMajor kMajor = BMajor::K>
__device__ __forceinline__ constexpr uint32_t bf16_product() {
  static_assert(kRows == 64 || kRows == 128 || kRows == 256);
  static_assert(kColumns % (kRows == 64 ? 8 : 16) == 0 && kColumns >= 8 && kColumns <= 256);
  return 1u << 4 | 1u << 7 | 1u << 10 | (kMajor == BMajor::N ? 1u << 16 : 0u) |
         static_cast<uint32_t>(kColumns / 8) << 17 | static_cast<uint32_t>(kRows / 16) << 24;
}

// D (+)= A * B over 16 steps of K, with D in tensor memory; issued by one thread.
__device__ __forceinline__ void tensor_product(uint32_t d, uint64_t a, uint64_t b,
                                               uint32_t instruction, bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %4, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n"
      "}\n" ::"r"(d),
      "l"(a), "l"(b), "r"(instruction), "r"(static_cast<uint32_t>(accumulate))
      : "memory");
}

// The same with A in tensor memory: 16 columns of K are 8 columns there, two elements in a word.
__device__ __forceinline__ void tensor_product_from_memory(uint32_t d, uint32_t a, uint64_t b,
                                                           uint32_t instruction, bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %4, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;\n"
      "}\n" ::"r"(d),
      "r"(a), "l"(b), "r"(instruction), "r"(static_cast<uint32_t>(accumulate))
      : "memory");
}

// The mbarrier hears one arrival once all products that this thread has issued are done.
__device__ __forceinline__ void tensor_commit(uint32_t barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
      : "memory");
}

// The same arrival at this offset in every block of the cluster whose bit is set in `blocks`.
__device__ __forceinline__ void tensor_commit_to_blocks(uint32_t barrier, uint16_t blocks) {
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
      " [%0], %1;" ::"r"(barrier),
      "h"(blocks)
      : "memory");
}

// Each thread of the warp gets 32 columns of its own lane. The values may be used after
// tensor_load_wait().
__device__ __forceinline__ void tensor_load(uint32_t (&r)[32], uint32_t address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x32.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
      "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
      "%30, %31}, [%32];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
        "=r"(r[7]), "=r"(r[8]), "=r"(r[9]), "=r"(r[10]), "=r"(r[11]), "=r"(r[12]), "=r"(r[13]),
        "=r"(r[14]), "=r"(r[15]), "=r"(r[16]), "=r"(r[17]), "=r"(r[18]), "=r"(r[19]), "=r"(r[20]),
        "=r"(r[21]), "=r"(r[22]), "=r"(r[23]), "=r"(r[24]), "=r"(r[25]), "=r"(r[26]), "=r"(r[27]),
        "=r"(r[28]), "=r"(r[29]), "=r"(r[30]), "=r"(r[31])
      : "r"(address)
      : "memory");
}
__device__ __forceinline__ void tensor_load_wait() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

// The way back: 32 columns of each thread's lane. Others may use them after tensor_store_wait().
__device__ __forceinline__ void tensor_store(uint32_t address, const uint32_t (&r)[32]) {
  asm volatile(
      "tcgen05.st.sync.aligned.32x32b.x32.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
      "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
      "%30, %31, %32};" ::"r"(address),
      "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7]),
      "r"(r[8]), "r"(r[9]), "r"(r[10]), "r"(r[11]), "r"(r[12]), "r"(r[13]), "r"(r[14]), "r"(r[15]),
      "r"(r[16]), "r"(r[17]), "r"(r[18]), "r"(r[19]), "r"(r[20]), "r"(r[21]), "r"(r[22]),
      "r"(r[23]), "r"(r[24]), "r"(r[25]), "r"(r[26]), "r"(r[27]), "r"(r[28]), "r"(r[29]),
      "r"(r[30]), "r"(r[31])
      : "memory");
}
__device__ __forceinline__ void tensor_store_wait() {
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

// Pairs of blocks, of even rank and the rank after it: a product of up to 256 x 256 reads the
// shared memory of both at the same places, and D's halves of the rows lie in the tensor memory of
// each. One thread of one of the blocks issues for both. All tcgen05 of a kernel must be of pairs
// then.

// One whole warp of each block; both blocks get the same columns.
__device__ __forceinline__ void tensor_memory_take_by_pair(uint32_t result, uint32_t columns) {
  asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(result),
               "r"(columns)
               : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void tensor_memory_give_back_by_pair(uint32_t address,
                                                                uint32_t columns) {
  asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(address), "r"(columns)
               : "memory");
}
__device__ __forceinline__ void tensor_product_of_pair(uint32_t d, uint64_t a, uint64_t b,
                                                       uint32_t instruction, bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %4, 0;\n"
      "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;\n"
      "}\n" ::"r"(d),
      "l"(a), "l"(b), "r"(instruction), "r"(static_cast<uint32_t>(accumulate))
      : "memory");
}
// One arrival at the mbarrier at the same offset in each block whose bit is set.
__device__ __forceinline__ void tensor_commit_of_pair(uint32_t barrier, uint16_t blocks) {
  asm volatile(
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
      " [%0], %1;" ::"r"(barrier),
      "h"(blocks)
      : "memory");
}
// A tile for this block whose bytes complete on a barrier that may be in the other block of the
// pair: `barrier` is an address of the cluster.
__device__ __forceinline__ void tma_load_for_pair(uint32_t destination, const CUtensorMap& map,
                                                  uint32_t barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx"
      "::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(destination),
      "l"(map_address(map)), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}
// What lies at `address` of this block, in block `rank` of the cluster.
__device__ __forceinline__ uint32_t address_in_block(uint32_t address, uint32_t rank) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

}  // namespace weft
