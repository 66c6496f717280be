// SPDX-License-Identifier: Apache-2.0

// Memory that programs allocate, register and map. Addresses are host addresses, so a copy between
// any two places is a memcpy; what makes memory "device" is that the emulator's table knows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptxbench/cudart/abi.h"
#include "ptxbench/cudart/status.h"
#include "ptxbench/emulator/global_memory.h"

namespace weft::cudart {

using AllocationKind = emulator::Allocation::Kind;

Status allocate(void** pointer, size_t size, AllocationKind kind, unsigned flags = 0);
Status allocate_pitched(void** pointer, size_t* pitch, size_t width, size_t height, size_t depth);
Status release(void* pointer);       // cudaFree; null is allowed
Status release_host(void* pointer);  // cudaFreeHost
Status register_host(void* pointer, size_t size, unsigned flags);
Status unregister_host(void* pointer);
Status get_device_pointer(void** device, void* host);
Status get_host_flags(unsigned* flags, void* host);
Status get_memory_info(size_t* free, size_t* total);
Status get_pointer_attributes(abi::PointerAttributes* attributes, const void* pointer);
Status get_address_range(void** base, size_t* size, const void* pointer);

// The driver's attributes of a pointer, one by one (CUpointer_attribute).
Status get_pointer_attribute(void* data, int attribute, const void* pointer);

// Whether [pointer, pointer + size) lies in one allocation that kernels can reach.
bool is_device_range(const void* pointer, size_t size);

// Where the memory begins that allocate() and register_host() made and nobody released.
std::vector<uint64_t> owned_addresses();

// cudaDeviceReset: everything that allocate() made and nobody released.
void release_everything();

// Virtual memory management. A handle is physical memory; mapping places it in a reserved range.
Status reserve_address(void** pointer, size_t size, size_t alignment);
Status free_address(void* pointer, size_t size);
Status create_physical(uint64_t* handle, size_t size, const abi::AllocationProperties* properties);
Status release_physical(uint64_t handle);
Status map_physical(void* pointer, size_t size, size_t offset, uint64_t handle);
Status unmap_physical(void* pointer, size_t size);
Status set_access(void* pointer, size_t size, const abi::AccessDescription* access, size_t count);
Status get_access(unsigned long long* flags, const abi::Location* location, const void* pointer);
Status get_physical_properties(abi::AllocationProperties* properties, uint64_t handle);
Status retain_physical(uint64_t* handle, const void* pointer);
inline constexpr size_t kPhysicalGranularity = size_t{2} << 20;

}  // namespace weft::cudart
