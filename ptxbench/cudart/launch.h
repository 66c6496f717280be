// SPDX-License-Identifier: Apache-2.0

// Kernel launches: limits are checked as the driver checks them, parameters are gathered into the
// layout that the kernel declares, and the grid runs to its end inside the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ptxbench/cudart/abi.h"
#include "ptxbench/cudart/module.h"
#include "ptxbench/cudart/status.h"
#include "ptxbench/emulator/machine.h"

namespace weft::cudart {

// A launch that has passed its checks and carries copies of everything it needs.
struct PreparedLaunch {
  Kernel* kernel = nullptr;
  emulator::Extent grid, block, cluster;
  uint32_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<std::byte> parameters;
};

// `symbol` is a host symbol or a kernel handle. Parameters come as an array of pointers, or as
// `extra` (CU_LAUNCH_PARAM_BUFFER_POINTER and friends).
Status prepare_launch(PreparedLaunch& launch, const void* symbol, abi::Dim3 grid, abi::Dim3 block,
                      size_t shared_bytes, void** parameters, void** extra,
                      std::span<const abi::LaunchAttribute> attributes);

// Runs it. A fault of the kernel breaks the context; the launch itself has succeeded, as on a GPU.
Status run_launch(const PreparedLaunch& launch);

// Splits a parameter block into pointers, one for each parameter (cudaGraphKernelNodeGetParams).
std::vector<void*> parameter_pointers(const PreparedLaunch& launch);

// cudaFuncGetAttributes, cudaFuncSetAttribute, cudaFuncGetParamInfo.
Status get_attributes(abi::FunctionAttributes* attributes, const void* symbol);
Status set_attribute(const void* symbol, int attribute, int value);
Status get_parameter_info(const void* symbol, size_t index, size_t* offset, size_t* size);
Status get_kernel_name(const char** name, const void* symbol);
// The driver's numbers for the same attributes (CUfunction_attribute).
Status get_driver_attribute(int* value, int attribute, const void* symbol);

// Occupancy.
Status max_active_blocks(int* blocks, const void* symbol, int threads, size_t shared_bytes);
Status max_active_clusters(int* clusters, const void* symbol, abi::Dim3 block, size_t shared_bytes,
                           std::span<const abi::LaunchAttribute> attributes);
Status max_cluster_size(int* size, const void* symbol);
Status available_shared(size_t* bytes, const void* symbol, int blocks, int threads);
Status best_block_size(int* min_grid, int* threads, const void* symbol,
                       size_t (*shared_of)(int threads), size_t shared_bytes, int limit);

}  // namespace weft::cudart
