// SPDX-License-Identifier: Apache-2.0

// mbarrier: the barrier object in shared memory that a copy engine can signal (PTX manual,
// "Parallel Synchronization and Communication Instructions: mbarrier").
//
// A phase completes when its pending arrivals AND its pending transaction bytes are both zero; the
// arrival count then starts again from the value given to init. A waiter names the parity of the
// phase it waits for: 0 for the first phase, then alternating. Waiting for parity 1 on a fresh
// barrier returns at once, as if a phase before the first had completed. A ring of buffers uses
// that: the producer starts with parity 1 on the "empty" barriers and finds every buffer free.
//
// Barriers are named by their 32-bit address in the shared window (shared_address()).
#pragma once

#include <cstdint>

namespace weft {

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// Done by one thread; fence_barrier_init() and a block or cluster barrier must follow.
__device__ __forceinline__ void barrier_init(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to the copy engine and to the other blocks of the cluster.
__device__ __forceinline__ void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives once and announces `bytes` that the copy engine will deliver in this phase.
__device__ __forceinline__ void barrier_arrive_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives at the barrier that lies at the same offset in block `rank` of the cluster. There is no
// .release.cluster here on purpose: the arrival only says that wgmma has finished reading a buffer,
// which wgmma.wait_group has established; no ordinary store has to become visible. With that
// qualifier ptxas puts a device-wide memory barrier ahead of every arrival, which costs a fifth of
// a matrix product.
__device__ __forceinline__ void barrier_arrive_in_block(uint32_t barrier, uint32_t rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}\n" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

// try_wait may suspend the thread for a while in hardware, and may return false before the phase
// ends.
__device__ __forceinline__ bool barrier_try_wait(uint32_t barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  while (!barrier_try_wait(barrier, parity)) {
  }
}

}  // namespace weft
