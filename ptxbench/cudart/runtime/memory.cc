// SPDX-License-Identifier: Apache-2.0

// Memory of the runtime API, pools included: every pool draws from the one device memory.
#include "ptxbench/cudart/memory.h"

#include "ptxbench/cudart/graph.h"
#include "ptxbench/cudart/pool.h"
#include "ptxbench/cudart/runtime/edge.h"
#include "ptxbench/cudart/stream.h"

using namespace weft::cudart;

extern "C" {

int cudaMalloc(void** pointer, size_t size) {
  return answer([&] { return allocate(pointer, size, AllocationKind::Device); });
}
int cudaMallocManaged(void** pointer, size_t size, unsigned flags) {
  return answer([&] {
    if (flags != 1 && flags != 2) return Status::InvalidValue;
    return allocate(pointer, size, AllocationKind::Managed, flags);
  });
}
int cudaMallocHost(void** pointer, size_t size) {
  return answer([&] { return allocate(pointer, size, AllocationKind::Pinned); });
}
int cudaHostAlloc(void** pointer, size_t size, unsigned flags) {
  return answer([&] {
    if (flags > 7) return Status::InvalidValue;
    return allocate(pointer, size, AllocationKind::Pinned, flags);
  });
}
int cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return answer([&] { return allocate_pitched(pointer, pitch, width, height, 1); });
}
int cudaMalloc3D(abi::PitchedPointer* pointer, abi::Extent extent) {
  return answer([&] {
    if (pointer == nullptr) return Status::InvalidValue;
    pointer->x_size = extent.width;
    pointer->y_size = extent.height;
    return allocate_pitched(&pointer->pointer, &pointer->pitch, extent.width, extent.height,
                            extent.depth);
  });
}
int cudaFree(void* pointer) {
  return answer([&] { return is_graph_memory(pointer) ? Status::Success : release(pointer); });
}
int cudaFreeHost(void* pointer) {
  return answer([&] { return release_host(pointer); });
}
int cudaHostRegister(void* pointer, size_t size, unsigned flags) {
  return answer([&] { return register_host(pointer, size, flags); });
}
int cudaHostUnregister(void* pointer) {
  return answer([&] { return unregister_host(pointer); });
}
int cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return answer(
      [&] { return flags == 0 ? get_device_pointer(device, host) : Status::InvalidValue; });
}
int cudaHostGetFlags(unsigned* flags, void* host) {
  return answer([&] { return get_host_flags(flags, host); });
}
int cudaMemGetInfo(size_t* free, size_t* total) {
  return answer([&] { return get_memory_info(free, total); });
}
int cudaPointerGetAttributes(abi::PointerAttributes* attributes, const void* pointer) {
  return answer([&] { return get_pointer_attributes(attributes, pointer); });
}

// Managed memory is one memory here: advice and prefetches are checked and change nothing.
int cudaMemAdvise(const void* pointer, size_t size, int advice, abi::Location) {
  return answer([&] {
    return advice >= 1 && advice <= 6 && is_device_range(pointer, size) ? Status::Success
                                                                        : Status::InvalidValue;
  });
}
int cudaMemPrefetchAsync(const void* pointer, size_t size, abi::Location, unsigned, void* stream) {
  return answer([&] {
    if (!is_device_range(pointer, size)) return Status::InvalidValue;
    return find_stream(stream) != nullptr ? Status::Success : Status::InvalidResourceHandle;
  });
}
int cudaMemRangeGetAttribute(void* data, size_t size, int attribute, const void* pointer,
                             size_t count) {
  return answer([&] {
    if (data == nullptr || size < 4 || attribute < 1 || attribute > 8 ||
        !is_device_range(pointer, count))
      return Status::InvalidValue;
    // Nothing is read-mostly; no location was preferred.
    *static_cast<int*>(data) = attribute == 1 ? 0 : -2;
    return Status::Success;
  });
}
int cudaStreamAttachMemAsync(void* stream, void* pointer, size_t, unsigned flags) {
  return answer([&] {
    if (find_stream(stream) == nullptr) return Status::InvalidResourceHandle;
    return (flags == 1 || flags == 2 || flags == 4) && is_device_range(pointer, 1)
               ? Status::Success
               : Status::InvalidValue;
  });
}

// Stream-ordered allocation
// ----------------------------------------------------------------------------

int cudaMallocAsync(void** pointer, size_t size, void* stream) {
  return answer([&] { return allocate_async(pointer, size, stream); });
}
int cudaFreeAsync(void* pointer, void* stream) {
  return answer([&] { return free_async(pointer, stream); });
}
int cudaMallocFromPoolAsync(void** pointer, size_t size, void* pool, void* stream) {
  return answer(
      [&] { return is_pool(pool) ? allocate_async(pointer, size, stream) : Status::InvalidValue; });
}
int cudaMemPoolCreate(void** pool, const abi::PoolProperties* properties) {
  return answer([&] { return create_pool(pool, properties); });
}
int cudaMemPoolDestroy(void* pool) {
  return answer([&] { return destroy_pool(pool); });
}
int cudaDeviceGetDefaultMemPool(void** pool, int device) {
  return answer([&] { return get_default_pool(pool, device); });
}
int cudaDeviceGetMemPool(void** pool, int device) {
  return answer([&] { return get_current_pool(pool, device); });
}
int cudaDeviceSetMemPool(int device, void* pool) {
  return answer([&] { return set_current_pool(device, pool); });
}
int cudaMemGetDefaultMemPool(void** pool, abi::Location* location, int) {
  return answer([&] {
    return location != nullptr ? get_default_pool(pool, location->id) : Status::InvalidValue;
  });
}
int cudaMemGetMemPool(void** pool, abi::Location* location, int) {
  return answer([&] {
    return location != nullptr ? get_current_pool(pool, location->id) : Status::InvalidValue;
  });
}
int cudaMemSetMemPool(abi::Location* location, int, void* pool) {
  return answer([&] {
    return location != nullptr ? set_current_pool(location->id, pool) : Status::InvalidValue;
  });
}
int cudaMemPoolTrimTo(void* pool, size_t) {
  return answer([&] { return is_pool(pool) ? Status::Success : Status::InvalidValue; });
}
int cudaMemPoolSetAttribute(void* pool, int attribute, void* value) {
  return answer([&] { return set_pool_attribute(pool, attribute, value); });
}
int cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return answer([&] { return get_pool_attribute(pool, attribute, value); });
}
int cudaMemPoolSetAccess(void* pool, const abi::AccessDescription* access, size_t count) {
  return answer([&] {
    return is_pool(pool) && (access != nullptr || count == 0) ? Status::Success
                                                              : Status::InvalidValue;
  });
}
int cudaMemPoolGetAccess(int* flags, void* pool, abi::Location* location) {
  return answer([&] {
    if (flags == nullptr || location == nullptr || !is_pool(pool)) return Status::InvalidValue;
    *flags = 3;
    return Status::Success;
  });
}

}  // extern "C"
