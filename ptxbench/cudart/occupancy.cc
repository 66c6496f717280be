// SPDX-License-Identifier: Apache-2.0

// How many blocks and clusters the modelled device holds at once.
#include <algorithm>

#include "ptxbench/cudart/launch.h"
#include "ptxbench/cudart/process.h"

namespace weft::cudart {
namespace {

uint32_t resident(const Kernel& kernel, uint32_t threads, size_t shared_bytes) {
  const size_t optin = model().shared_per_block_optin;
  if (threads == 0 || threads > emulator::info(*kernel.code).max_threads || shared_bytes > optin)
    return 0;
  return emulator::resident_blocks(model(), *kernel.code, threads,
                                   static_cast<uint32_t>(shared_bytes));
}

}  // namespace

Status max_active_blocks(int* blocks, const void* symbol, int threads, size_t shared_bytes) {
  if (blocks == nullptr || threads <= 0) return Status::InvalidValue;
  Kernel* kernel = nullptr;
  EXPECT_SUCCESS(find_kernel(symbol, &kernel));
  *blocks = static_cast<int>(resident(*kernel, static_cast<uint32_t>(threads), shared_bytes));
  return Status::Success;
}

Status max_active_clusters(int* clusters, const void* symbol, abi::Dim3 block, size_t shared_bytes,
                           std::span<const abi::LaunchAttribute> attributes) {
  if (clusters == nullptr) return Status::InvalidValue;
  Kernel* kernel = nullptr;
  EXPECT_SUCCESS(find_kernel(symbol, &kernel));
  uint64_t size =
      emulator::info(*kernel->code).required_cluster.value_or(emulator::Extent{}).count();
  for (const abi::LaunchAttribute& attribute : attributes)
    if (attribute.id == abi::kAttributeClusterDimension)
      size = uint64_t{attribute.value.dimensions[0]} * attribute.value.dimensions[1] *
             attribute.value.dimensions[2];
  if (size == 0 || size > model().max_cluster_size) return Status::InvalidClusterSize;
  const uint64_t blocks = uint64_t{resident(*kernel, block.x * block.y * block.z, shared_bytes)} *
                          static_cast<uint64_t>(model().multiprocessors);
  *clusters = static_cast<int>(blocks / size);
  return Status::Success;
}

Status max_cluster_size(int* size, const void* symbol) {
  if (size == nullptr) return Status::InvalidValue;
  Kernel* kernel = nullptr;
  EXPECT_SUCCESS(find_kernel(symbol, &kernel));
  *size = kernel->non_portable_cluster ? static_cast<int>(model().max_cluster_size) : 8;
  return Status::Success;
}

Status available_shared(size_t* bytes, const void* symbol, int blocks, int threads) {
  if (bytes == nullptr || blocks <= 0 || threads <= 0) return Status::InvalidValue;
  Kernel* kernel = nullptr;
  EXPECT_SUCCESS(find_kernel(symbol, &kernel));
  if (resident(*kernel, static_cast<uint32_t>(threads), 0) < static_cast<uint32_t>(blocks))
    return Status::InvalidValue;
  // The largest amount with which that many blocks still fit, by bisection: residency only falls.
  size_t low = 0, high = model().shared_per_block_optin;
  while (low < high) {
    const size_t middle = (low + high + 1) / 2;
    if (resident(*kernel, static_cast<uint32_t>(threads), middle) >= static_cast<uint32_t>(blocks))
      low = middle;
    else
      high = middle - 1;
  }
  *bytes = low;
  return Status::Success;
}

Status best_block_size(int* min_grid, int* threads, const void* symbol,
                       size_t (*shared_of)(int threads), size_t shared_bytes, int limit) {
  if (min_grid == nullptr || threads == nullptr) return Status::InvalidValue;
  Kernel* kernel = nullptr;
  EXPECT_SUCCESS(find_kernel(symbol, &kernel));
  const int most = static_cast<int>(emulator::info(*kernel->code).max_threads);
  const int top = limit > 0 ? std::min(limit, most) : most;
  int best = 0;
  *threads = *min_grid = 0;
  for (int size = top; size > 0; size = (size - 1) / 32 * 32) {
    const size_t shared = shared_of != nullptr ? shared_of(size) : shared_bytes;
    const auto blocks = static_cast<int>(resident(*kernel, static_cast<uint32_t>(size), shared));
    if (blocks * size <= best) continue;
    best = blocks * size;
    *threads = size;
    *min_grid = blocks * model().multiprocessors;
  }
  return Status::Success;
}

}  // namespace weft::cudart
