// SPDX-License-Identifier: Apache-2.0

// Launches, function attributes and occupancy of the runtime API.
#include "ptxbench/cudart/launch.h"

#include <vector>

#include "ptxbench/cudart/module.h"
#include "ptxbench/cudart/runtime/edge.h"
#include "ptxbench/cudart/stream.h"

using namespace weft::cudart;

namespace {

struct CallConfiguration {
  abi::Dim3 grid, block;
  size_t shared_bytes;
  void* stream;
};
// What <<<...>>> pushes and the stub of the kernel pops.
thread_local std::vector<CallConfiguration> configurations;

std::span<const abi::LaunchAttribute> attributes_of(const abi::LaunchConfiguration& c) {
  return {c.attributes, c.attributes != nullptr ? c.attribute_count : 0};
}

Status launch(const void* symbol, abi::Dim3 grid, abi::Dim3 block, void** arguments,
              size_t shared_bytes, void* stream) {
  return enqueue_launch(symbol, grid, block, shared_bytes, stream, arguments);
}

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(abi::Dim3 grid, abi::Dim3 block, size_t shared_bytes,
                                     void* stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}
int __cudaPopCallConfiguration(abi::Dim3* grid, abi::Dim3* block, size_t* shared_bytes,
                               void* stream) {
  if (configurations.empty()) return remember(Status::MissingConfiguration);
  const CallConfiguration c = configurations.back();
  configurations.pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared_bytes = c.shared_bytes;
  *static_cast<void**>(stream) = c.stream;
  return 0;
}
int __cudaGetKernel(void** kernel, const void* host_symbol) {
  return remember(find_registered_kernel(host_symbol, reinterpret_cast<Kernel**>(kernel)));
}
int __cudaLaunchKernel(void* kernel, abi::Dim3 grid, abi::Dim3 block, void** arguments,
                       size_t shared_bytes, void* stream) {
  return answer([&] { return launch(kernel, grid, block, arguments, shared_bytes, stream); });
}
int cudaLaunchKernel(const void* symbol, abi::Dim3 grid, abi::Dim3 block, void** arguments,
                     size_t shared_bytes, void* stream) {
  return answer([&] { return launch(symbol, grid, block, arguments, shared_bytes, stream); });
}
int cudaLaunchKernelExC(const abi::LaunchConfiguration* c, const void* symbol, void** arguments) {
  return answer([&] {
    if (c == nullptr) return Status::InvalidValue;
    return enqueue_launch(symbol, c->grid, c->block, c->shared_bytes, c->stream, arguments, nullptr,
                          attributes_of(*c));
  });
}
int cudaLaunchCooperativeKernel(const void* symbol, abi::Dim3 grid, abi::Dim3 block,
                                void** arguments, size_t shared_bytes, void* stream) {
  abi::LaunchAttribute cooperative{};
  cooperative.id = abi::kAttributeCooperative;
  cooperative.value.number = 1;
  return answer([&] {
    return enqueue_launch(symbol, grid, block, shared_bytes, stream, arguments, nullptr,
                          {&cooperative, 1});
  });
}

int cudaFuncGetAttributes(abi::FunctionAttributes* attributes, const void* symbol) {
  return answer([&] { return get_attributes(attributes, symbol); });
}
int cudaFuncSetAttribute(const void* symbol, int attribute, int value) {
  return answer([&] { return set_attribute(symbol, attribute, value); });
}
int cudaKernelSetAttributeForDevice(void* kernel, int attribute, int value, int device) {
  return answer([&] {
    return device == 0 ? set_attribute(kernel, attribute, value) : Status::InvalidDevice;
  });
}
int cudaFuncGetName(const char** name, const void* symbol) {
  return answer([&] { return get_kernel_name(name, symbol); });
}
int cudaFuncGetParamInfo(const void* symbol, size_t index, size_t* offset, size_t* size) {
  return answer([&] { return get_parameter_info(symbol, index, offset, size); });
}
int cudaFuncSetCacheConfig(const void* symbol, int config) {
  return answer([&] {
    Kernel* kernel = nullptr;
    if (config < 0 || config > 3) return Status::InvalidValue;
    return find_kernel(symbol, &kernel);
  });
}
int cudaFuncSetSharedMemConfig(const void* symbol, int config) {
  return cudaFuncSetCacheConfig(symbol, config);
}
int cudaGetFuncBySymbol(void** function, const void* symbol) {
  return answer([&] { return find_kernel(symbol, reinterpret_cast<Kernel**>(function)); });
}
int cudaGetKernel(void** kernel, const void* symbol) {
  return answer([&] { return find_kernel(symbol, reinterpret_cast<Kernel**>(kernel)); });
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* symbol, int threads,
                                                  size_t shared_bytes) {
  return answer([&] { return max_active_blocks(blocks, symbol, threads, shared_bytes); });
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* symbol,
                                                           int threads, size_t shared_bytes,
                                                           unsigned) {
  return answer([&] { return max_active_blocks(blocks, symbol, threads, shared_bytes); });
}
int cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* symbol, int blocks,
                                              int threads) {
  return answer([&] { return available_shared(bytes, symbol, blocks, threads); });
}
int cudaOccupancyMaxActiveClusters(int* clusters, const void* symbol,
                                   const abi::LaunchConfiguration* c) {
  return answer([&] {
    if (c == nullptr) return Status::InvalidValue;
    return max_active_clusters(clusters, symbol, c->block, c->shared_bytes, attributes_of(*c));
  });
}
int cudaOccupancyMaxPotentialClusterSize(int* size, const void* symbol,
                                         const abi::LaunchConfiguration* c) {
  return answer(
      [&] { return c != nullptr ? max_cluster_size(size, symbol) : Status::InvalidValue; });
}

}  // extern "C"
