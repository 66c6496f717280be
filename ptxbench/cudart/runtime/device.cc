// SPDX-License-Identifier: Apache-2.0

// Devices of the runtime API.
#include "ptxbench/cudart/device.h"

#include <cstring>

#include "ptxbench/cudart/memory.h"
#include "ptxbench/cudart/module.h"
#include "ptxbench/cudart/runtime/edge.h"
#include "ptxbench/cudart/stream.h"

using namespace weft::cudart;

extern "C" {

int cudaGetDeviceCount(int* count) {
  return answer([&] {
    if (count == nullptr) return Status::InvalidValue;
    *count = kDeviceCount;
    return Status::Success;
  });
}
int cudaGetDeviceProperties(abi::DeviceProperties* properties, int device) {
  return answer([&] { return get_device_properties(properties, device); });
}
int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return answer([&] { return get_device_attribute(value, attribute, device); });
}
int cudaSetDevice(int device) {
  return answer([&] { return set_device(device); });
}
int cudaInitDevice(int device, unsigned, unsigned) {
  return answer([&] { return device == 0 ? Status::Success : Status::InvalidDevice; });
}
int cudaGetDevice(int* device) {
  return answer([&] {
    if (device == nullptr) return Status::InvalidValue;
    *device = current_device();
    return Status::Success;
  });
}
int cudaChooseDevice(int* device, const abi::DeviceProperties* wanted) {
  return answer([&] {
    if (device == nullptr || wanted == nullptr) return Status::InvalidValue;
    *device = 0;
    return Status::Success;
  });
}
int cudaSetValidDevices(int* devices, int count) {
  return answer([&] {
    for (int i = 0; i < count; ++i)
      if (devices == nullptr || devices[i] != 0) return Status::InvalidDevice;
    return Status::Success;
  });
}
int cudaSetDeviceFlags(unsigned flags) {
  return answer([&] { return set_device_flags(flags); });
}
int cudaGetDeviceFlags(unsigned* flags) {
  return answer([&] {
    if (flags == nullptr) return Status::InvalidValue;
    *flags = device_flags();
    return Status::Success;
  });
}
int cudaDeviceSynchronize() {
  return answer(synchronize_device);
}
int cudaDeviceReset() {
  // The one call that leads out of a broken context.
  reset_context();
  return answer([] {
    unload_all_modules();
    release_everything();
    set_last_error(0);
    return Status::Success;
  });
}
int cudaDeviceSetLimit(int limit, size_t value) {
  return answer([&] { return set_limit(limit, value); });
}
int cudaDeviceGetLimit(size_t* value, int limit) {
  return answer([&] { return get_limit(value, limit); });
}
int cudaDeviceGetCacheConfig(int* config) {
  return answer([&] {
    if (config == nullptr) return Status::InvalidValue;
    *config = 0;
    return Status::Success;
  });
}
int cudaDeviceSetCacheConfig(int config) {
  return answer(
      [&] { return config >= 0 && config <= 3 ? Status::Success : Status::InvalidValue; });
}
int cudaDeviceGetSharedMemConfig(int* config) {
  return answer([&] {
    if (config == nullptr) return Status::InvalidValue;
    *config = 1;  // banks of four bytes
    return Status::Success;
  });
}
int cudaDeviceSetSharedMemConfig(int config) {
  return answer(
      [&] { return config >= 0 && config <= 2 ? Status::Success : Status::InvalidValue; });
}
int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return answer([&] {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return Status::Success;
  });
}
int cudaDeviceGetPCIBusId(char* id, int length, int device) {
  return answer([&] { return get_bus_id(id, length, device); });
}
int cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return answer([&] { return find_by_bus_id(device, id); });
}
int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return answer([&] {
    if (can == nullptr) return Status::InvalidValue;
    if (device != 0 || peer != 0) return Status::InvalidDevice;
    *can = 0;
    return Status::Success;
  });
}
int cudaDeviceEnablePeerAccess(int, unsigned) {
  return answer([] { return Status::InvalidDevice; });
}
int cudaDeviceDisablePeerAccess(int) {
  return answer([] { return Status::PeerAccessNotEnabled; });
}
int cudaDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  return answer([&] { return get_peer_attribute(value, attribute, from, to); });
}
int cudaDeviceGetTexture1DLinearMaxWidth(size_t* width, const abi::ChannelFormat* format,
                                         int device) {
  return answer([&] {
    if (width == nullptr || format == nullptr) return Status::InvalidValue;
    int texels = 0;
    EXPECT_SUCCESS(get_device_attribute(&texels, 69, device));
    *width = static_cast<size_t>(texels);
    return Status::Success;
  });
}
int cudaDeviceFlushGPUDirectRDMAWrites(int, int) {
  return answer([] { return Status::Success; });
}
int cudaCtxResetPersistingL2Cache() {
  return answer([] { return Status::Success; });
}
int cudaProfilerStart() {
  return answer([] { return Status::Success; });
}
int cudaProfilerStop() {
  return answer([] { return Status::Success; });
}
int cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return remember(Status::InvalidValue);
  *version = abi::kVersion;
  return 0;
}
int cudaDriverGetVersion(int* version) {
  return cudaRuntimeGetVersion(version);
}

// Graphs keep their memory, so there is nothing to trim and little to tell.
int cudaDeviceGraphMemTrim(int device) {
  return answer([&] { return device == 0 ? Status::Success : Status::InvalidDevice; });
}
int cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  return answer([&] {
    if (device != 0) return Status::InvalidDevice;
    if (value == nullptr || attribute < 0 || attribute > 3) return Status::InvalidValue;
    size_t free = 0, total = 0;
    EXPECT_SUCCESS(get_memory_info(&free, &total));
    *static_cast<uint64_t*>(value) = total - free;
    return Status::Success;
  });
}
int cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
  return answer([&] {
    if (device != 0) return Status::InvalidDevice;
    return value != nullptr && (attribute == 1 || attribute == 3) ? Status::Success
                                                                  : Status::InvalidValue;
  });
}

}  // extern "C"
