// SPDX-License-Identifier: Apache-2.0

// What the emulated GPU claims to be: the limits a program can query and the residency they allow.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::emulator {

struct DeviceModel {
  std::string_view key;   // "h100"
  std::string_view name;  // as cudaGetDeviceProperties reports it
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  uint64_t global_memory = 0;  // bytes
  uint32_t shared_per_multiprocessor = 0;
  uint32_t shared_per_block = 0;  // without opt-in
  uint32_t shared_per_block_optin = 0;
  uint32_t reserved_shared_per_block = 0;
  uint32_t registers_per_multiprocessor = 0;
  uint32_t max_threads_per_multiprocessor = 0;
  uint32_t max_blocks_per_multiprocessor = 0;
  uint32_t max_cluster_size = 0;  // portable limit is 8
  uint64_t level2_cache = 0;      // bytes
  uint32_t clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;
};

// "h100", "h200", "b200"; nullptr for any other word.
const DeviceModel* find_device_model(std::string_view key);

}  // namespace weft::emulator
