// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/global_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>

namespace weft::emulator {

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kAlignment = 512;
// Space that no allocation owns behind each one, so that small overruns never land in a neighbour.
constexpr uint64_t kGuard = 4096;
// Small allocations share mappings of this size: a mapping costs a system call and a kernel object.
constexpr uint64_t kArena = 2 << 20;

uint64_t round_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

// Where device memory begins if nothing else lies there: addresses that no loader, heap or stack
// takes, so that another process can have the same ones and repeat a recording.
constexpr uint64_t kFirstAddress = 0x3000'0000'0000;

void* map(uint64_t bytes, uint64_t wish) {
  void* p = mmap(reinterpret_cast<void*>(wish), bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

// Behind the last mapping; the kernel takes another place when that one is not free.
uint64_t next_address(const std::map<uint64_t, uint64_t>& mappings) {
  if (mappings.empty()) return kFirstAddress;
  return std::max(kFirstAddress,
                  round_up(mappings.rbegin()->first + mappings.rbegin()->second, kPage));
}

}  // namespace

GlobalMemory::~GlobalMemory() {
  for (const auto& [address, bytes] : mappings_) munmap(reinterpret_cast<void*>(address), bytes);
}

uint64_t GlobalMemory::allocate(uint64_t size, Allocation::Kind kind, std::string label) {
  std::unique_lock lock(mutex_);
  const uint64_t asked = size == 0 ? 1 : size;
  const uint64_t used = used_.load();
  if (asked > capacity_ || used > capacity_ - asked) return 0;
  const uint64_t bytes = round_up(asked, kAlignment) + kGuard;
  uint64_t address = 0;
  if (bytes <= kArena / 4) {
    // First fit among freed pieces of the same rounded size, else the open arena's end.
    if (auto freed = free_pieces_.find(bytes);
        freed != free_pieces_.end() && !freed->second.empty()) {
      address = freed->second.back();
      freed->second.pop_back();
    } else {
      if (arena_left_ < bytes) {
        void* p = map(kArena, next_address(mappings_));
        if (p == nullptr) return 0;
        mappings_[reinterpret_cast<uint64_t>(p)] = kArena;
        arena_next_ = reinterpret_cast<uint64_t>(p);
        arena_left_ = kArena;
      }
      address = arena_next_;
      arena_next_ += bytes;
      arena_left_ -= bytes;
    }
  } else {
    const uint64_t mapped = round_up(bytes, kPage);
    void* p = map(mapped, next_address(mappings_));
    if (p == nullptr) return 0;
    address = reinterpret_cast<uint64_t>(p);
    mappings_[address] = mapped;
  }
  allocations_[address] = {address, size, kind, std::move(label)};
  used_ += asked;
  generation_.fetch_add(1, std::memory_order_release);
  return address;
}

bool GlobalMemory::free(uint64_t address) {
  std::unique_lock lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return false;
  const Allocation::Kind kind = found->second.kind;
  if (kind == Allocation::Kind::Registered || kind == Allocation::Kind::Parameters) return false;
  const uint64_t asked = found->second.size == 0 ? 1 : found->second.size;
  allocations_.erase(found);
  used_ -= asked;
  const uint64_t bytes = round_up(asked, kAlignment) + kGuard;
  if (bytes <= kArena / 4) {
    free_pieces_[bytes].push_back(address);
  } else if (const auto mapping = mappings_.find(address); mapping != mappings_.end()) {
    munmap(reinterpret_cast<void*>(address), mapping->second);
    mappings_.erase(mapping);
  }
  generation_.fetch_add(1, std::memory_order_release);
  return true;
}

void GlobalMemory::adopt(uint64_t address, uint64_t size, Allocation::Kind kind,
                         std::string label) {
  std::unique_lock lock(mutex_);
  allocations_[address] = {address, size, kind, std::move(label)};
  generation_.fetch_add(1, std::memory_order_release);
}

void GlobalMemory::forget(uint64_t address) {
  std::unique_lock lock(mutex_);
  allocations_.erase(address);
  generation_.fetch_add(1, std::memory_order_release);
}

std::optional<Allocation> GlobalMemory::find(uint64_t address) const {
  std::shared_lock lock(mutex_);
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return std::nullopt;
  const Allocation& candidate = std::prev(after)->second;
  if (address - candidate.address >= candidate.size) return std::nullopt;
  return candidate;
}

std::optional<Allocation> GlobalMemory::nearest(uint64_t address) const {
  std::shared_lock lock(mutex_);
  std::optional<Allocation> best;
  uint64_t distance = UINT64_MAX;
  auto after = allocations_.upper_bound(address);
  if (after != allocations_.end()) {
    best = after->second;
    distance = after->second.address - address;
  }
  if (after != allocations_.begin()) {
    const Allocation& before = std::prev(after)->second;
    const uint64_t end = before.address + before.size;
    if (address < end || address - end < distance) best = before;
  }
  return best;
}

}  // namespace weft::emulator
