// SPDX-License-Identifier: Apache-2.0

// Device memory. A device pointer is a host pointer into a mapping that the emulator owns, so
// copies are memcpy and generic addresses need no table; every access is checked against the
// allocations.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/result.h"

namespace weft::emulator {

struct Allocation {
  uint64_t address = 0;
  uint64_t size = 0;  // bytes, as asked for
  enum class Kind : uint8_t {
    Device,
    Managed,
    Pinned,
    Registered,
    Variable,
    Parameters
  } kind = Kind::Device;
  std::string label;  // variable name; empty otherwise
};

class GlobalMemory {
 public:
  explicit GlobalMemory(uint64_t capacity) : capacity_(capacity) {}
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  // Memory aligned to 512 bytes with unmapped or unused space after it; 0 when the modelled device
  // or the host has too little left. Contents are undefined to the program (a fixed poison pattern
  // is NOT written: pages are demand-zero, so a big allocation costs nothing until touched).
  uint64_t allocate(uint64_t size, Allocation::Kind kind = Allocation::Kind::Device,
                    std::string label = {});
  // False when the address is not the start of a live allocation made by allocate().
  bool free(uint64_t address);
  // Makes memory that somebody else owns visible to kernels (cudaHostRegister, kernel parameters).
  void adopt(uint64_t address, uint64_t size, Allocation::Kind kind, std::string label = {});
  void forget(uint64_t address);

  // The live allocation that holds the address; nothing when there is none.
  std::optional<Allocation> find(uint64_t address) const;
  // The live allocation that lies nearest, for messages.
  std::optional<Allocation> nearest(uint64_t address) const;
  uint64_t used() const { return used_.load(); }
  uint64_t capacity() const { return capacity_; }
  // Changes whenever the set of allocations does: caches of find() compare it.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

 private:
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, Allocation> allocations_;             // by start address
  std::map<uint64_t, uint64_t> mappings_;                  // start of ours -> bytes mapped
  std::map<uint64_t, std::vector<uint64_t>> free_pieces_;  // of arenas, by rounded size
  uint64_t arena_next_ = 0, arena_left_ = 0;               // unused end of the open arena
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> generation_{1};
  uint64_t capacity_;
};

}  // namespace weft::emulator
