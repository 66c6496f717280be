// SPDX-License-Identifier: Apache-2.0

// Refusals answer the codes that the CUDA driver answers for the same mistake; where several would
// do, the reason is printed too, since a bare "invalid argument" costs its reader an hour.
#include "ptxbench/cudart/launch.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "ptxbench/cudart/host_reads.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/recorder.h"

namespace weft::cudart {
namespace {

constexpr uint32_t kPortableCluster = 8;

Status refuse_launch(const Kernel& kernel, Status status, const std::string& why) {
  complain_once(fmt::format("launch of {} refused: {}", kernel.name, why));
  return status;
}

uint32_t most_dynamic_shared(const Kernel& kernel) {
  const uint32_t fixed = emulator::info(*kernel.code).static_shared;
  const uint32_t plain = model().shared_per_block > fixed ? model().shared_per_block - fixed : 0;
  return std::max(plain, kernel.max_dynamic_shared);
}

emulator::Extent extent(abi::Dim3 dim) {
  return {dim.x, dim.y, dim.z};
}

// The kernel's own cluster shape unless the launch names one.
Status choose_cluster(PreparedLaunch& launch) {
  const Kernel& kernel = *launch.kernel;
  const auto& required = emulator::info(*kernel.code).required_cluster;
  emulator::Extent& cluster = launch.cluster;
  if (cluster.count() == 0)
    return refuse_launch(kernel, Status::InvalidClusterSize, "a cluster extent is 0");
  const bool named = cluster.count() > 1;
  if (required && !named) cluster = *required;
  if (!required && !named && kernel.required_cluster[0] != 0)
    cluster = {kernel.required_cluster[0], std::max(kernel.required_cluster[1], 1u),
               std::max(kernel.required_cluster[2], 1u)};
  if (required && named &&
      (cluster.x != required->x || cluster.y != required->y || cluster.z != required->z))
    return refuse_launch(kernel, Status::InvalidClusterSize,
                         "the cluster differs from the kernel's __cluster_dims__");
  if (kernel.cluster_must_be_set && cluster.count() == 1)
    return refuse_launch(kernel, Status::InvalidClusterSize, "the kernel asks for a cluster");
  const uint64_t size = cluster.count();
  if (size == 1) return Status::Success;
  const uint32_t limit = kernel.non_portable_cluster ? model().max_cluster_size : kPortableCluster;
  if (size > limit)
    return refuse_launch(
        kernel, Status::InvalidClusterSize,
        fmt::format("cluster of {} blocks, at most {} are allowed{}", size, limit,
                    kernel.non_portable_cluster
                        ? ""
                        : " without cudaFuncAttributeNonPortableClusterSizeAllowed"));
  if (launch.grid.x % cluster.x || launch.grid.y % cluster.y || launch.grid.z % cluster.z)
    return refuse_launch(
        kernel, Status::InvalidConfiguration,
        fmt::format("the cluster {}x{}x{} does not divide the grid {}x{}x{}", cluster.x, cluster.y,
                    cluster.z, launch.grid.x, launch.grid.y, launch.grid.z));
  return Status::Success;
}

Status check_shape(const PreparedLaunch& launch, size_t shared_bytes) {
  const Kernel& kernel = *launch.kernel;
  const emulator::Extent &grid = launch.grid, &block = launch.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 2147483647u || grid.y > 65535 ||
      grid.z > 65535)
    return refuse_launch(kernel, Status::InvalidConfiguration,
                         fmt::format("grid {}x{}x{}", grid.x, grid.y, grid.z));
  if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > 1024 || block.y > 1024 ||
      block.z > 64 || block.count() > 1024)
    return refuse_launch(kernel, Status::InvalidConfiguration,
                         fmt::format("block {}x{}x{}", block.x, block.y, block.z));
  const uint32_t most_threads = emulator::info(*kernel.code).max_threads;
  if (block.count() > most_threads)
    return refuse_launch(
        kernel, Status::InvalidValue,
        fmt::format("block of {} threads, the kernel's bound is {}", block.count(), most_threads));
  if (shared_bytes > most_dynamic_shared(kernel))
    return refuse_launch(kernel, Status::InvalidValue,
                         fmt::format("{} bytes of dynamic shared memory, the limit is {} (see "
                                     "cudaFuncAttributeMaxDynamicSharedMemorySize)",
                                     shared_bytes, most_dynamic_shared(kernel)));
  return Status::Success;
}

// CU_LAUNCH_PARAM_*: a list of (name, value) pairs that ends with a null name.
Status read_extra(void** extra, const std::byte*& buffer, size_t& size) {
  for (size_t i = 0; extra[i] != nullptr; i += 2) {
    switch (reinterpret_cast<uintptr_t>(extra[i])) {
      case 1:
        buffer = static_cast<const std::byte*>(extra[i + 1]);
        break;
      case 2:
        size = *static_cast<const size_t*>(extra[i + 1]);
        break;
      default:
        return Status::InvalidValue;
    }
  }
  return buffer != nullptr ? Status::Success : Status::InvalidValue;
}

Status gather(PreparedLaunch& launch, void** parameters, void** extra) {
  const emulator::KernelInfo& info = emulator::info(*launch.kernel->code);
  launch.parameters.assign(info.parameter_bytes, std::byte{0});
  if (info.parameter_bytes == 0) return Status::Success;
  if (parameters == nullptr && extra != nullptr) {
    const std::byte* buffer = nullptr;
    size_t size = 0;
    EXPECT_SUCCESS(read_extra(extra, buffer, size));
    std::memcpy(launch.parameters.data(), buffer, std::min<size_t>(size, info.parameter_bytes));
    return Status::Success;
  }
  if (parameters == nullptr) return Status::InvalidValue;
  for (size_t i = 0; i < info.parameter_offsets.size(); ++i) {
    if (parameters[i] == nullptr) return Status::InvalidValue;
    std::memcpy(launch.parameters.data() + info.parameter_offsets[i], parameters[i],
                info.parameter_sizes[i]);
  }
  return Status::Success;
}

Status read_attributes(PreparedLaunch& launch, std::span<const abi::LaunchAttribute> attributes) {
  for (const abi::LaunchAttribute& attribute : attributes) {
    switch (attribute.id) {
      case abi::kAttributeCooperative:
        launch.cooperative = attribute.value.number != 0;
        break;
      case abi::kAttributeClusterDimension:
        launch.cluster = {attribute.value.dimensions[0], attribute.value.dimensions[1],
                          attribute.value.dimensions[2]};
        break;
      // Launches run one after the other, so a dependent launch may always begin and hints about
      // order, caches and placement change nothing.
      default:
        if (attribute.id < 0 || attribute.id > 16) return Status::InvalidValue;
    }
  }
  return Status::Success;
}

Status check_cooperative(const PreparedLaunch& launch) {
  const uint64_t resident = uint64_t{emulator::resident_blocks(
                                model(), *launch.kernel->code,
                                static_cast<uint32_t>(launch.block.count()), launch.shared_bytes)} *
                            static_cast<uint64_t>(model().multiprocessors);
  if (launch.grid.count() <= resident) return Status::Success;
  return refuse_launch(*launch.kernel, Status::CooperativeLaunchTooLarge,
                       fmt::format("a cooperative grid of {} blocks, {} fit at once",
                                   launch.grid.count(), resident));
}

}  // namespace

Status prepare_launch(PreparedLaunch& launch, const void* symbol, abi::Dim3 grid, abi::Dim3 block,
                      size_t shared_bytes, void** parameters, void** extra,
                      std::span<const abi::LaunchAttribute> attributes) {
  EXPECT_SUCCESS(find_kernel(symbol, &launch.kernel));
  launch.grid = extent(grid);
  launch.block = extent(block);
  EXPECT_SUCCESS(read_attributes(launch, attributes));
  EXPECT_SUCCESS(check_shape(launch, shared_bytes));
  launch.shared_bytes = static_cast<uint32_t>(shared_bytes);
  EXPECT_SUCCESS(choose_cluster(launch));
  if (launch.cooperative) EXPECT_SUCCESS(check_cooperative(launch));
  return gather(launch, parameters, extra);
}

Status run_launch(const PreparedLaunch& launch) {
  // The context may have been reset since a graph was made.
  Kernel* kernel = nullptr;
  EXPECT_SUCCESS(find_kernel(launch.kernel, &kernel));
  note_launch(launch);
  const auto start = std::chrono::steady_clock::now();
  auto outcome = machine().run({.kernel = kernel->code,
                                .grid = launch.grid,
                                .block = launch.block,
                                .cluster = launch.cluster,
                                .dynamic_shared = launch.shared_bytes,
                                .cooperative = launch.cooperative,
                                .parameters = launch.parameters});
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  kernel->module->count_launch(kernel->name, elapsed.count());
  if (!outcome.ok()) {
    complain_once(format(outcome.error()));
    return Status::LaunchOutOfResources;
  }
  see_shared_memory();
  if (*outcome) break_context(**outcome);
  return Status::Success;
}

std::vector<void*> parameter_pointers(const PreparedLaunch& launch) {
  std::vector<void*> pointers;
  if (launch.kernel->code == nullptr) return pointers;
  for (const uint32_t offset : emulator::info(*launch.kernel->code).parameter_offsets)
    pointers.push_back(const_cast<std::byte*>(launch.parameters.data()) + offset);
  return pointers;
}

Status get_attributes(abi::FunctionAttributes* attributes, const void* symbol) {
  if (attributes == nullptr) return Status::InvalidValue;
  Kernel* kernel = nullptr;
  EXPECT_SUCCESS(find_kernel(symbol, &kernel));
  const emulator::KernelInfo& info = emulator::info(*kernel->code);
  const ptx::Module& module = kernel->module->program()->module();
  *attributes = {};
  for (const ptx::Variable& variable : module.variables)
    if (variable.space == isa::Space::Constant) attributes->constant_bytes += variable.size();
  attributes->shared_bytes = info.static_shared;
  attributes->local_bytes = info.local_per_thread;
  attributes->max_threads_per_block = static_cast<int>(info.max_threads);
  attributes->registers = static_cast<int>(info.registers);
  attributes->ptx_version = model().compute_major * 10 + model().compute_minor;
  attributes->binary_version = attributes->ptx_version;
  attributes->max_dynamic_shared_bytes = static_cast<int>(most_dynamic_shared(*kernel));
  attributes->preferred_carveout = kernel->carveout;
  attributes->cluster_must_be_set = kernel->cluster_must_be_set || info.required_cluster;
  const auto cluster = info.required_cluster.value_or(emulator::Extent{
      kernel->required_cluster[0], kernel->required_cluster[1], kernel->required_cluster[2]});
  attributes->required_cluster_width = static_cast<int>(cluster.x);
  attributes->required_cluster_height = static_cast<int>(cluster.y);
  attributes->required_cluster_depth = static_cast<int>(cluster.z);
  attributes->cluster_scheduling_policy = kernel->cluster_policy;
  attributes->non_portable_cluster_allowed = kernel->non_portable_cluster;
  return Status::Success;
}

Status set_attribute(const void* symbol, int attribute, int value) {
  Kernel* kernel = nullptr;
  EXPECT_SUCCESS(find_kernel(symbol, &kernel));
  switch (attribute) {
    case abi::kMaxDynamicShared: {
      const uint32_t fixed = emulator::info(*kernel->code).static_shared;
      if (value < 0 || static_cast<uint64_t>(value) + fixed > model().shared_per_block_optin)
        return Status::InvalidValue;
      kernel->max_dynamic_shared = static_cast<uint32_t>(value);
      return Status::Success;
    }
    case abi::kPreferredCarveout:
      if (value < -1 || value > 100) return Status::InvalidValue;
      kernel->carveout = value;
      return Status::Success;
    case abi::kClusterMustBeSet:
      kernel->cluster_must_be_set = value != 0;
      return Status::Success;
    case abi::kRequiredClusterWidth:
    case abi::kRequiredClusterHeight:
    case abi::kRequiredClusterDepth:
      if (value < 0 || emulator::info(*kernel->code).required_cluster) return Status::NotSupported;
      kernel->required_cluster[attribute - abi::kRequiredClusterWidth] =
          static_cast<uint32_t>(value);
      return Status::Success;
    case abi::kNonPortableClusterAllowed:
      kernel->non_portable_cluster = value != 0;
      return Status::Success;
    case abi::kClusterSchedulingPolicy:
      if (value < 0 || value > 2) return Status::InvalidValue;
      kernel->cluster_policy = value;
      return Status::Success;
    default:
      return Status::InvalidValue;
  }
}

Status get_driver_attribute(int* value, int attribute, const void* symbol) {
  if (value == nullptr) return Status::InvalidValue;
  abi::FunctionAttributes a;
  EXPECT_SUCCESS(get_attributes(&a, symbol));
  switch (attribute) {
    case 0:
      *value = a.max_threads_per_block;
      break;
    case 1:
      *value = static_cast<int>(a.shared_bytes);
      break;
    case 2:
      *value = static_cast<int>(a.constant_bytes);
      break;
    case 3:
      *value = static_cast<int>(a.local_bytes);
      break;
    case 4:
      *value = a.registers;
      break;
    case 5:
      *value = a.ptx_version;
      break;
    case 6:
      *value = a.binary_version;
      break;
    case 7:
      *value = a.cache_mode;
      break;
    case 8:
      *value = a.max_dynamic_shared_bytes;
      break;
    case 9:
      *value = a.preferred_carveout;
      break;
    case 10:
      *value = a.cluster_must_be_set;
      break;
    case 11:
      *value = a.required_cluster_width;
      break;
    case 12:
      *value = a.required_cluster_height;
      break;
    case 13:
      *value = a.required_cluster_depth;
      break;
    case 14:
      *value = a.non_portable_cluster_allowed;
      break;
    case 15:
      *value = a.cluster_scheduling_policy;
      break;
    default:
      return Status::InvalidValue;
  }
  return Status::Success;
}

Status get_parameter_info(const void* symbol, size_t index, size_t* offset, size_t* size) {
  Kernel* kernel = nullptr;
  EXPECT_SUCCESS(find_kernel(symbol, &kernel));
  const emulator::KernelInfo& info = emulator::info(*kernel->code);
  if (index >= info.parameter_offsets.size()) return Status::InvalidValue;
  if (offset != nullptr) *offset = info.parameter_offsets[index];
  if (size != nullptr) *size = info.parameter_sizes[index];
  return Status::Success;
}

Status get_kernel_name(const char** name, const void* symbol) {
  if (name == nullptr) return Status::InvalidValue;
  Kernel* kernel = nullptr;
  EXPECT_SUCCESS(find_kernel(symbol, &kernel));
  *name = kernel->name.c_str();
  return Status::Success;
}

}  // namespace weft::cudart
