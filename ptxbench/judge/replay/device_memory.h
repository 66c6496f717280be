// SPDX-License-Identifier: Apache-2.0

// Memory at the addresses that a recording names, so that pointers inside parameters, tensor maps
// and other memory stay right.
#pragma once

#include <cstdint>
#include <map>

#include "base/result.h"
#include "ptxbench/emulator/global_memory.h"

namespace weft::judge {

class DeviceMemory {
 public:
  explicit DeviceMemory(emulator::GlobalMemory& table) : table_(table) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Fails when this process has something else there, or when the address is no device memory's.
  Result<Done> allocate(uint64_t address, uint64_t bytes);
  void free(uint64_t address) { table_.forget(address); }
  // Whether all of the range is mapped: recorded copies are not trusted.
  bool holds(uint64_t address, uint64_t bytes) const;

 private:
  emulator::GlobalMemory& table_;
  std::map<uint64_t, uint64_t> mapped_;  // whole pages, from start to end; never overlapping
};

}  // namespace weft::judge
