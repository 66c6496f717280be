// SPDX-License-Identifier: Apache-2.0

// Memory of the driver API. A CUdeviceptr is the address itself.
#include "ptxbench/cudart/memory.h"

#include "ptxbench/cudart/context.h"
#include "ptxbench/cudart/driver/edge.h"
#include "ptxbench/cudart/graph.h"
#include "ptxbench/cudart/pool.h"
#include "ptxbench/cudart/stream.h"

using namespace weft::cudart;

namespace {

void* pointer(uint64_t address) {
  return reinterpret_cast<void*>(address);
}
void** pointer(uint64_t* address) {
  return reinterpret_cast<void**>(address);
}

Status pointer_attribute(void* data, int attribute, uint64_t address) {
  if (attribute != 1) return get_pointer_attribute(data, attribute, pointer(address));
  return is_device_range(pointer(address), 1) ? get_context(static_cast<void**>(data))
                                              : Status::InvalidValue;
}

}  // namespace

extern "C" {

int cuMemGetInfo_v2(size_t* free, size_t* total) {
  return context_answer([&] { return get_memory_info(free, total); });
}
int cuMemAlloc_v2(uint64_t* address, size_t size) {
  return context_answer([&] {
    return size != 0 ? allocate(pointer(address), size, AllocationKind::Device)
                     : Status::InvalidValue;
  });
}
int cuMemAllocPitch_v2(uint64_t* address, size_t* pitch, size_t width, size_t height,
                       unsigned element_bytes) {
  return context_answer([&] {
    if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)
      return Status::InvalidValue;
    return allocate_pitched(pointer(address), pitch, width, height, 1);
  });
}
int cuMemFree_v2(uint64_t address) {
  return context_answer([&] {
    return is_graph_memory(pointer(address)) ? Status::Success : release(pointer(address));
  });
}
int cuMemGetAddressRange_v2(uint64_t* base, size_t* size, uint64_t address) {
  return context_answer([&] { return get_address_range(pointer(base), size, pointer(address)); });
}
int cuMemAllocHost_v2(void** host, size_t size) {
  return context_answer([&] { return allocate(host, size, AllocationKind::Pinned); });
}
int cuMemHostAlloc(void** host, size_t size, unsigned flags) {
  return context_answer([&] { return allocate(host, size, AllocationKind::Pinned, flags); });
}
int cuMemFreeHost(void* host) {
  return context_answer([&] { return release_host(host); });
}
int cuMemHostGetDevicePointer_v2(uint64_t* address, void* host, unsigned) {
  return context_answer([&] { return get_device_pointer(pointer(address), host); });
}
int cuMemHostGetFlags(unsigned* flags, void* host) {
  return context_answer([&] { return get_host_flags(flags, host); });
}
int cuMemHostRegister_v2(void* host, size_t size, unsigned flags) {
  return context_answer([&] { return register_host(host, size, flags); });
}
int cuMemHostUnregister(void* host) {
  return context_answer([&] { return unregister_host(host); });
}
int cuMemAllocManaged(uint64_t* address, size_t size, unsigned flags) {
  return context_answer([&] {
    if (flags != 1 && flags != 2) return Status::InvalidValue;
    return allocate(pointer(address), size, AllocationKind::Managed, flags);
  });
}
int cuPointerGetAttribute(void* data, int attribute, uint64_t address) {
  return context_answer([&] { return pointer_attribute(data, attribute, address); });
}
int cuPointerGetAttributes(unsigned count, int* attributes, void** data, uint64_t address) {
  return context_answer([&] {
    if (attributes == nullptr || data == nullptr) return Status::InvalidValue;
    // Attributes that do not apply are left alone, as the driver documents.
    for (unsigned i = 0; i < count; ++i) (void)pointer_attribute(data[i], attributes[i], address);
    return Status::Success;
  });
}
int cuPointerSetAttribute(const void* value, int attribute, uint64_t address) {
  return context_answer([&] {
    return value != nullptr && attribute == 6 && is_device_range(pointer(address), 1)
               ? Status::Success
               : Status::InvalidValue;
  });
}
int cuMemAdvise_v2(uint64_t address, size_t size, int advice, abi::Location) {
  return context_answer([&] {
    return advice >= 1 && advice <= 6 && is_device_range(pointer(address), size)
               ? Status::Success
               : Status::InvalidValue;
  });
}
int cuMemAdvise(uint64_t address, size_t size, int advice, int) {
  return cuMemAdvise_v2(address, size, advice, {});
}
int cuMemPrefetchAsync_v2(uint64_t address, size_t size, abi::Location, unsigned, void* stream) {
  return context_answer([&] {
    if (find_stream(stream) == nullptr) return Status::InvalidResourceHandle;
    return is_device_range(pointer(address), size) ? Status::Success : Status::InvalidValue;
  });
}
int cuMemPrefetchAsync(uint64_t address, size_t size, int, void* stream) {
  return cuMemPrefetchAsync_v2(address, size, {}, 0, stream);
}
int cuStreamAttachMemAsync(void* stream, uint64_t address, size_t, unsigned flags) {
  return context_answer([&] {
    if (find_stream(stream) == nullptr) return Status::InvalidResourceHandle;
    return (flags == 1 || flags == 2 || flags == 4) && is_device_range(pointer(address), 1)
               ? Status::Success
               : Status::InvalidValue;
  });
}

// Virtual memory management
// ----------------------------------------------------------------------------

int cuMemAddressReserve(uint64_t* address, size_t size, size_t alignment, uint64_t,
                        unsigned long long flags) {
  return device_answer([&] {
    return flags == 0 ? reserve_address(pointer(address), size, alignment) : Status::InvalidValue;
  });
}
int cuMemAddressFree(uint64_t address, size_t size) {
  return device_answer([&] { return free_address(pointer(address), size); });
}
int cuMemCreate(uint64_t* handle, size_t size, const abi::AllocationProperties* properties,
                unsigned long long) {
  return device_answer([&] { return create_physical(handle, size, properties); });
}
int cuMemRelease(uint64_t handle) {
  return device_answer([&] { return release_physical(handle); });
}
int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle, unsigned long long) {
  return device_answer([&] { return map_physical(pointer(address), size, offset, handle); });
}
int cuMemUnmap(uint64_t address, size_t size) {
  return device_answer([&] { return unmap_physical(pointer(address), size); });
}
int cuMemSetAccess(uint64_t address, size_t size, const abi::AccessDescription* access,
                   size_t count) {
  return device_answer([&] { return set_access(pointer(address), size, access, count); });
}
int cuMemGetAccess(unsigned long long* flags, const abi::Location* location, uint64_t address) {
  return device_answer([&] { return get_access(flags, location, pointer(address)); });
}
int cuMemGetAllocationGranularity(size_t* granularity, const abi::AllocationProperties* properties,
                                  int) {
  return device_answer([&] {
    if (granularity == nullptr || properties == nullptr) return Status::InvalidValue;
    *granularity = kPhysicalGranularity;
    return Status::Success;
  });
}
int cuMemGetAllocationPropertiesFromHandle(abi::AllocationProperties* properties, uint64_t handle) {
  return device_answer([&] { return get_physical_properties(properties, handle); });
}
int cuMemRetainAllocationHandle(uint64_t* handle, void* address) {
  return device_answer([&] { return retain_physical(handle, address); });
}

// Stream-ordered allocation
// ----------------------------------------------------------------------------

int cuMemAllocAsync(uint64_t* address, size_t size, void* stream) {
  return context_answer([&] { return allocate_async(pointer(address), size, stream); });
}
int cuMemFreeAsync(uint64_t address, void* stream) {
  return context_answer([&] { return free_async(pointer(address), stream); });
}
int cuMemAllocFromPoolAsync(uint64_t* address, size_t size, void* pool, void* stream) {
  return context_answer([&] {
    return is_pool(pool) ? allocate_async(pointer(address), size, stream) : Status::InvalidValue;
  });
}
int cuMemPoolCreate(void** pool, const abi::PoolProperties* properties) {
  return device_answer([&] { return create_pool(pool, properties); });
}
int cuMemPoolDestroy(void* pool) {
  return device_answer([&] { return destroy_pool(pool); });
}
int cuDeviceGetDefaultMemPool(void** pool, int device) {
  return device_answer([&] { return get_default_pool(pool, device); });
}
int cuDeviceGetMemPool(void** pool, int device) {
  return device_answer([&] { return get_current_pool(pool, device); });
}
int cuDeviceSetMemPool(int device, void* pool) {
  return device_answer([&] { return set_current_pool(device, pool); });
}
int cuMemPoolTrimTo(void* pool, size_t) {
  return device_answer([&] { return is_pool(pool) ? Status::Success : Status::InvalidValue; });
}
int cuMemPoolSetAttribute(void* pool, int attribute, void* value) {
  return device_answer([&] { return set_pool_attribute(pool, attribute, value); });
}
int cuMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return device_answer([&] { return get_pool_attribute(pool, attribute, value); });
}
int cuMemPoolSetAccess(void* pool, const abi::AccessDescription* access, size_t count) {
  return device_answer([&] {
    return is_pool(pool) && (access != nullptr || count == 0) ? Status::Success
                                                              : Status::InvalidValue;
  });
}

}  // extern "C"
