// SPDX-License-Identifier: Apache-2.0

// TMA: copies of whole tiles between global and shared memory, described by a tensor map and done
// by the copy engine (PTX manual, "Data Movement: cp.async.bulk.tensor").
//
// Coordinates are element indices, innermost dimension first. A tile may reach over the edge of the
// tensor: loads fill with zeros and still count the full tile in transaction bytes, stores drop
// what lies outside. One thread issues. With the 128-byte swizzle, the 16-byte chunk c of the
// 128-byte row r of a tile lies at chunk c ^ (r mod 8), provided that the tile starts on a multiple
// of 1024 bytes.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace weft {

__device__ __forceinline__ uint64_t map_address(const CUtensorMap& map) {
  return reinterpret_cast<uint64_t>(&map);
}

__device__ __forceinline__ void tma_prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map_address(map)) : "memory");
}

// The bytes of the tile complete on `barrier`.
__device__ __forceinline__ void tma_load(uint32_t destination, const CUtensorMap& map,
                                         uint32_t barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4}], [%2];" ::"r"(destination),
      "l"(map_address(map)), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}

__device__ __forceinline__ void tma_load(uint32_t destination, const CUtensorMap& map,
                                         uint32_t barrier, int x, int y, int z, int w) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(destination),
      "l"(map_address(map)), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w)
      : "memory");
}

// Writes the tile at the same shared offset in every block whose bit is set in `blocks`, and
// completes its bytes on the barrier at the same offset in each of them.
__device__ __forceinline__ void tma_load_multicast(uint32_t destination, const CUtensorMap& map,
                                                   uint32_t barrier, uint16_t blocks, int x,
                                                   int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(destination),
      "l"(map_address(map)), "r"(barrier), "h"(blocks), "r"(x), "r"(y)
      : "memory");
}

__device__ __forceinline__ void tma_store(const CUtensorMap& map, uint32_t source, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
          map_address(map)),
      "r"(source), "r"(x), "r"(y)
      : "memory");
}

__device__ __forceinline__ void tma_store(const CUtensorMap& map, uint32_t source, int x, int y,
                                          int z, int w) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group"
      " [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map_address(map)),
      "r"(source), "r"(x), "r"(y), "r"(z), "r"(w)
      : "memory");
}

__device__ __forceinline__ void tma_store_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until at most kPending groups of this thread still have to read their shared memory.
template <int kPending>
__device__ __forceinline__ void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Waits until at most kPending groups of this thread are incomplete.
template <int kPending>
__device__ __forceinline__ void tma_store_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}

// Ordinary writes to shared memory before this are seen by the copy engine and the tensor cores
// after it ("fence.proxy.async": both read through another proxy than ld and st).
__device__ __forceinline__ void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace weft
