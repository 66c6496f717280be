// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/device_model.h"

namespace weft::emulator {

namespace {

// Limits by compute capability: CUDA C++ Programming Guide 13.0, "Technical Specifications per
// Compute Capability". Names, memory and clocks: as a device of that kind answers
// cudaGetDeviceProperties.
constexpr DeviceModel kModels[] = {
    {.key = "h100",
     .name = "NVIDIA H100 80GB HBM3",
     .compute_major = 9,
     .compute_minor = 0,
     .multiprocessors = 132,
     .global_memory = 85'029'158'912,
     .shared_per_multiprocessor = 233'472,
     .shared_per_block = 49'152,
     .shared_per_block_optin = 232'448,
     .reserved_shared_per_block = 1'024,
     .registers_per_multiprocessor = 65'536,
     .max_threads_per_multiprocessor = 2'048,
     .max_blocks_per_multiprocessor = 32,
     .max_cluster_size = 16,
     .level2_cache = 52'428'800,
     .clock_khz = 1'980'000,
     .memory_clock_khz = 2'619'000,
     .memory_bus_bits = 5'120},
    {.key = "h200",
     .name = "NVIDIA H200",
     .compute_major = 9,
     .compute_minor = 0,
     .multiprocessors = 132,
     .global_memory = 150'754'820'096,
     .shared_per_multiprocessor = 233'472,
     .shared_per_block = 49'152,
     .shared_per_block_optin = 232'448,
     .reserved_shared_per_block = 1'024,
     .registers_per_multiprocessor = 65'536,
     .max_threads_per_multiprocessor = 2'048,
     .max_blocks_per_multiprocessor = 32,
     .max_cluster_size = 16,
     .level2_cache = 62'914'560,
     .clock_khz = 1'980'000,
     .memory_clock_khz = 3'201'000,
     .memory_bus_bits = 6'144},
    {.key = "b200",
     .name = "NVIDIA B200",
     .compute_major = 10,
     .compute_minor = 0,
     .multiprocessors = 148,
     .global_memory = 191'510'577'152,
     .shared_per_multiprocessor = 233'472,
     .shared_per_block = 49'152,
     .shared_per_block_optin = 232'448,
     .reserved_shared_per_block = 1'024,
     .registers_per_multiprocessor = 65'536,
     .max_threads_per_multiprocessor = 2'048,
     .max_blocks_per_multiprocessor = 32,
     .max_cluster_size = 16,
     .level2_cache = 132'644'864,
     .clock_khz = 1'965'000,
     .memory_clock_khz = 3'996'000,
     .memory_bus_bits = 8'192},
};

}  // namespace

const DeviceModel* find_device_model(std::string_view key) {
  for (const DeviceModel& model : kModels)
    if (model.key == key) return &model;
  return nullptr;
}

}  // namespace weft::emulator
