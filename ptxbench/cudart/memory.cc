// SPDX-License-Identifier: Apache-2.0

// Allocation, registration and queries. The emulator's table holds the truth about what is alive;
// kept here is only what the API asks back: flags of host memory, and what this library allocated.
#include "ptxbench/cudart/memory.h"

#include <map>
#include <mutex>

#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/recorder.h"

namespace weft::cudart {
namespace {

struct Owned {
  AllocationKind kind;
  unsigned flags;
  uint64_t id;
};

struct Table {
  std::mutex mutex;
  std::map<uint64_t, Owned> owned;  // by address: what allocate() and register_host() made
  uint64_t next_id = 1;
};

Table& table() {
  static Table& instance = *new Table;
  return instance;
}

uint64_t address_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

bool is_host(AllocationKind kind) {
  return kind == AllocationKind::Pinned || kind == AllocationKind::Registered;
}

Status forget_owned(void* pointer, bool host) {
  {
    const std::lock_guard lock(table().mutex);
    const auto entry = table().owned.find(address_of(pointer));
    if (entry == table().owned.end() || entry->second.kind == AllocationKind::Registered ||
        is_host(entry->second.kind) != host)
      return Status::InvalidValue;
    table().owned.erase(entry);
  }
  note_release(address_of(pointer));
  return machine().memory().free(address_of(pointer)) ? Status::Success : Status::InvalidValue;
}

}  // namespace

Status allocate(void** pointer, size_t size, AllocationKind kind, unsigned flags) {
  if (pointer == nullptr) return Status::InvalidValue;
  *pointer = nullptr;
  if (size == 0) return kind == AllocationKind::Managed ? Status::InvalidValue : Status::Success;
  const uint64_t address = machine().memory().allocate(size, kind);
  if (address == 0) return Status::MemoryAllocation;
  {
    const std::lock_guard lock(table().mutex);
    table().owned[address] = {kind, flags, table().next_id++};
  }
  note_allocation(address);
  *pointer = reinterpret_cast<void*>(address);
  return Status::Success;
}

std::vector<uint64_t> owned_addresses() {
  const std::lock_guard lock(table().mutex);
  std::vector<uint64_t> addresses;
  for (const auto& [address, owned] : table().owned) addresses.push_back(address);
  return addresses;
}

Status allocate_pitched(void** pointer, size_t* pitch, size_t width, size_t height, size_t depth) {
  if (pointer == nullptr || pitch == nullptr) return Status::InvalidValue;
  *pitch = (width + 511) / 512 * 512;
  if (height != 0 && *pitch > SIZE_MAX / height) return Status::MemoryAllocation;
  if (depth != 0 && *pitch * height > SIZE_MAX / depth) return Status::MemoryAllocation;
  return allocate(pointer, *pitch * height * depth, AllocationKind::Device);
}

Status release(void* pointer) {
  return pointer == nullptr ? Status::Success : forget_owned(pointer, false);
}

Status release_host(void* pointer) {
  return pointer == nullptr ? Status::Success : forget_owned(pointer, true);
}

Status register_host(void* pointer, size_t size, unsigned flags) {
  if (pointer == nullptr || size == 0) return Status::InvalidValue;
  if (machine().memory().find(address_of(pointer))) return Status::HostMemoryAlreadyRegistered;
  machine().memory().adopt(address_of(pointer), size, AllocationKind::Registered);
  {
    const std::lock_guard lock(table().mutex);
    table().owned[address_of(pointer)] = {AllocationKind::Registered, flags, table().next_id++};
  }
  note_allocation(address_of(pointer));
  return Status::Success;
}

Status unregister_host(void* pointer) {
  if (pointer == nullptr) return Status::InvalidValue;
  {
    const std::lock_guard lock(table().mutex);
    const auto entry = table().owned.find(address_of(pointer));
    if (entry == table().owned.end() || entry->second.kind != AllocationKind::Registered)
      return Status::HostMemoryNotRegistered;
    table().owned.erase(entry);
  }
  machine().memory().forget(address_of(pointer));
  return Status::Success;
}

Status get_device_pointer(void** device, void* host) {
  if (device == nullptr) return Status::InvalidValue;
  const auto allocation = machine().memory().find(address_of(host));
  if (!allocation || !is_host(allocation->kind)) return Status::InvalidValue;
  *device = host;
  return Status::Success;
}

Status get_host_flags(unsigned* flags, void* host) {
  if (flags == nullptr) return Status::InvalidValue;
  const std::lock_guard lock(table().mutex);
  const auto entry = table().owned.find(address_of(host));
  if (entry == table().owned.end() || !is_host(entry->second.kind)) return Status::InvalidValue;
  *flags = entry->second.flags;
  return Status::Success;
}

Status get_memory_info(size_t* free, size_t* total) {
  const emulator::GlobalMemory& memory = machine().memory();
  if (total != nullptr) *total = memory.capacity();
  if (free != nullptr)
    *free = memory.used() < memory.capacity() ? memory.capacity() - memory.used() : 0;
  return Status::Success;
}

bool is_device_range(const void* pointer, size_t size) {
  // Neighbouring mappings of the virtual memory API form one range for the program.
  for (uint64_t address = address_of(pointer); size != 0;) {
    const auto allocation = machine().memory().find(address);
    if (!allocation) return false;
    const uint64_t left = allocation->address + allocation->size - address;
    if (size <= left) return true;
    address += left;
    size -= left;
  }
  return true;
}

Status get_pointer_attributes(abi::PointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return Status::InvalidValue;
  *attributes = {};
  const auto allocation = machine().memory().find(address_of(pointer));
  if (!allocation) {
    // Not an error: host memory that CUDA does not know.
    attributes->type = abi::kUnregistered;
    attributes->device = -2;  // cudaInvalidDeviceId
    attributes->host_pointer = const_cast<void*>(pointer);
    return Status::Success;
  }
  void* address = const_cast<void*>(pointer);
  attributes->device = 0;
  attributes->device_pointer = address;
  switch (allocation->kind) {
    case AllocationKind::Pinned:
    case AllocationKind::Registered:
      attributes->type = abi::kHost;
      attributes->host_pointer = address;
      break;
    case AllocationKind::Managed:
      attributes->type = abi::kManaged;
      attributes->host_pointer = address;
      break;
    default:
      attributes->type = abi::kDevice;
  }
  return Status::Success;
}

Status get_address_range(void** base, size_t* size, const void* pointer) {
  const auto allocation = machine().memory().find(address_of(pointer));
  if (!allocation) return Status::SymbolNotFound;  // CUDA_ERROR_NOT_FOUND
  if (base != nullptr) *base = reinterpret_cast<void*>(allocation->address);
  if (size != nullptr) *size = allocation->size;
  return Status::Success;
}

Status get_pointer_attribute(void* data, int attribute, const void* pointer) {
  if (data == nullptr) return Status::InvalidValue;
  const auto allocation = machine().memory().find(address_of(pointer));
  if (!allocation) return Status::InvalidValue;
  const bool managed = allocation->kind == AllocationKind::Managed;
  const bool host = is_host(allocation->kind);
  uint64_t id = 0;
  {
    const std::lock_guard lock(table().mutex);
    const auto entry = table().owned.find(allocation->address);
    if (entry != table().owned.end()) id = entry->second.id;
  }
  const auto put = [&](auto value) { *static_cast<decltype(value)*>(data) = value; };
  switch (attribute) {
    case 1:
      return Status::NotSupported;  // context: see cuCtxGetCurrent
    case 2:
      put(host ? 1u : 2u);
      break;  // memory type
    case 3:
      put(const_cast<void*>(pointer));
      break;  // device pointer
    case 4:   // host pointer
      if (!host && !managed) return Status::InvalidValue;
      put(const_cast<void*>(pointer));
      break;
    case 6:
      put(1u);
      break;  // synchronous memory operations
    case 7:
      put(static_cast<unsigned long long>(id));
      break;  // buffer id
    case 8:
      put(managed ? 1u : 0u);
      break;
    case 9:
      put(0);
      break;  // device ordinal
    case 10:
      put(0u);
      break;  // legacy IPC
    case 11:
      put(allocation->address);
      break;  // start of the range
    case 12:
      put(static_cast<size_t>(allocation->size));
      break;
    case 13:
      put(1u);
      break;  // mapped
    case 14:
      put(0u);
      break;  // allowed handle types
    case 15:
      put(0u);
      break;  // RDMA
    case 16:
      put(3u);
      break;  // access: read and write
    case 17:
      put(static_cast<void*>(nullptr));
      break;  // memory pool
    default:
      return Status::InvalidValue;
  }
  return Status::Success;
}

void release_everything() {
  std::map<uint64_t, Owned> owned;
  {
    const std::lock_guard lock(table().mutex);
    owned.swap(table().owned);
  }
  for (const auto& [address, entry] : owned) {
    if (entry.kind == AllocationKind::Registered)
      machine().memory().forget(address);
    else
      (void)machine().memory().free(address);
  }
}

}  // namespace weft::cudart
