// SPDX-License-Identifier: Apache-2.0

// Virtual memory management (cuMemAddressReserve, cuMemCreate, cuMemMap, cuMemSetAccess): physical
// memory is an anonymous file, a mapping is mmap over a reserved range, and access makes it known
// to the emulator.
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>

#include "ptxbench/cudart/memory.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/recorder.h"

namespace weft::cudart {
namespace {

struct Physical {
  int file = -1;
  size_t size = 0;
  abi::AllocationProperties properties{};
  uint64_t handle = 0;
  ~Physical() { close(file); }
};

struct Mapping {
  size_t size;
  std::shared_ptr<Physical> physical;  // stays until unmapped, even when the handle is released
  bool accessible = false;
};

struct Table {
  std::mutex mutex;
  std::map<uint64_t, size_t> reserved;
  std::map<uint64_t, std::shared_ptr<Physical>> handles;
  std::map<uint64_t, Mapping> mappings;
  uint64_t next_handle = 1;
};

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

bool is_granular(size_t size) {
  return size != 0 && size % kPhysicalGranularity == 0;
}
uint64_t address_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

}  // namespace

Status reserve_address(void** pointer, size_t size, size_t alignment) {
  if (pointer == nullptr || !is_granular(size) || (alignment & (alignment - 1)) != 0)
    return Status::InvalidValue;
  const size_t step = alignment > kPhysicalGranularity ? alignment : kPhysicalGranularity;
  // One step more, so that an aligned start lies inside; the rest is given back.
  void* start =
      mmap(nullptr, size + step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return Status::MemoryAllocation;
  const uint64_t first = address_of(start);
  const uint64_t aligned = (first + step - 1) / step * step;
  if (aligned > first) munmap(start, aligned - first);
  if (const uint64_t tail = first + step - aligned; tail != 0)
    munmap(reinterpret_cast<void*>(aligned + size), tail);
  const std::lock_guard lock(table().mutex);
  table().reserved[aligned] = size;
  *pointer = reinterpret_cast<void*>(aligned);
  return Status::Success;
}

Status free_address(void* pointer, size_t size) {
  const std::lock_guard lock(table().mutex);
  const auto entry = table().reserved.find(address_of(pointer));
  if (entry == table().reserved.end() || entry->second != size) return Status::InvalidValue;
  const auto next = table().mappings.lower_bound(address_of(pointer));
  if (next != table().mappings.end() && next->first < address_of(pointer) + size)
    return Status::InvalidValue;
  munmap(pointer, size);
  table().reserved.erase(entry);
  return Status::Success;
}

Status create_physical(uint64_t* handle, size_t size, const abi::AllocationProperties* properties) {
  if (handle == nullptr || properties == nullptr || !is_granular(size)) return Status::InvalidValue;
  if (size > machine().memory().capacity() - machine().memory().used())
    return Status::MemoryAllocation;
  auto physical = std::make_shared<Physical>();
  physical->file = memfd_create("weft-device-memory", MFD_CLOEXEC);
  if (physical->file < 0 || ftruncate(physical->file, static_cast<off_t>(size)) != 0)
    return Status::MemoryAllocation;
  physical->size = size;
  physical->properties = *properties;
  const std::lock_guard lock(table().mutex);
  physical->handle = table().next_handle++;
  *handle = physical->handle;
  table().handles[*handle] = std::move(physical);
  return Status::Success;
}

Status release_physical(uint64_t handle) {
  const std::lock_guard lock(table().mutex);
  return table().handles.erase(handle) == 1 ? Status::Success : Status::InvalidValue;
}

Status map_physical(void* pointer, size_t size, size_t offset, uint64_t handle) {
  const std::lock_guard lock(table().mutex);
  const auto physical = table().handles.find(handle);
  if (physical == table().handles.end() || !is_granular(size) || offset != 0 ||
      size > physical->second->size)
    return Status::InvalidValue;
  const uint64_t address = address_of(pointer);
  auto range = table().reserved.upper_bound(address);
  if (range == table().reserved.begin()) return Status::InvalidValue;
  --range;
  if (address + size > range->first + range->second) return Status::InvalidValue;
  const auto next = table().mappings.lower_bound(address);
  if (next != table().mappings.end() && next->first < address + size) return Status::InvalidValue;
  if (mmap(pointer, size, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->second->file, 0) ==
      MAP_FAILED)
    return Status::MemoryAllocation;
  table().mappings[address] = {size, physical->second};
  return Status::Success;
}

Status unmap_physical(void* pointer, size_t size) {
  const std::lock_guard lock(table().mutex);
  const uint64_t address = address_of(pointer);
  // The range must consist of whole mappings.
  uint64_t at = address;
  for (auto entry = table().mappings.find(at); at < address + size;
       entry = table().mappings.find(at)) {
    if (entry == table().mappings.end()) return Status::InvalidValue;
    at += entry->second.size;
  }
  if (at != address + size) return Status::InvalidValue;
  for (auto entry = table().mappings.find(address);
       entry != table().mappings.end() && entry->first < at;) {
    if (entry->second.accessible) machine().memory().forget(entry->first);
    entry = table().mappings.erase(entry);
  }
  mmap(pointer, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return Status::Success;
}

Status set_access(void* pointer, size_t size, const abi::AccessDescription* access, size_t count) {
  if (access == nullptr || count == 0 || size == 0) return Status::InvalidValue;
  int protection = PROT_NONE;
  for (size_t i = 0; i < count; ++i)
    if (access[i].flags & 1) protection |= PROT_READ | (access[i].flags & 2 ? PROT_WRITE : 0);
  const std::lock_guard lock(table().mutex);
  const uint64_t address = address_of(pointer);
  for (uint64_t at = address; at < address + size;) {
    const auto entry = table().mappings.find(at);
    if (entry == table().mappings.end()) return Status::InvalidValue;
    at += entry->second.size;
  }
  for (auto entry = table().mappings.find(address);
       entry != table().mappings.end() && entry->first < address + size; ++entry) {
    note_unrepeatable("memory that is mapped by hand");
    mprotect(reinterpret_cast<void*>(entry->first), entry->second.size, protection);
    if (protection != PROT_NONE && !entry->second.accessible)
      machine().memory().adopt(entry->first, entry->second.size, AllocationKind::Device);
    if (protection == PROT_NONE && entry->second.accessible)
      machine().memory().forget(entry->first);
    entry->second.accessible = protection != PROT_NONE;
  }
  return Status::Success;
}

Status get_access(unsigned long long* flags, const abi::Location* location, const void* pointer) {
  if (flags == nullptr || location == nullptr) return Status::InvalidValue;
  *flags = is_device_range(pointer, 1) ? 3 : 0;
  return Status::Success;
}

Status get_physical_properties(abi::AllocationProperties* properties, uint64_t handle) {
  if (properties == nullptr) return Status::InvalidValue;
  const std::lock_guard lock(table().mutex);
  const auto physical = table().handles.find(handle);
  if (physical == table().handles.end()) return Status::InvalidValue;
  *properties = physical->second->properties;
  return Status::Success;
}

Status retain_physical(uint64_t* handle, const void* pointer) {
  if (handle == nullptr) return Status::InvalidValue;
  const std::lock_guard lock(table().mutex);
  auto mapping = table().mappings.upper_bound(address_of(pointer));
  if (mapping == table().mappings.begin()) return Status::InvalidValue;
  --mapping;
  if (address_of(pointer) >= mapping->first + mapping->second.size) return Status::InvalidValue;
  *handle = table().next_handle++;
  table().handles[*handle] = mapping->second.physical;
  return Status::Success;
}

}  // namespace weft::cudart
