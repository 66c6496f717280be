// SPDX-License-Identifier: Apache-2.0

// Start-up, devices, contexts and errors of the driver API.
#include "ptxbench/cudart/device.h"

#include <cstring>

#include "ptxbench/cudart/abi.h"
#include "ptxbench/cudart/driver/edge.h"
#include "ptxbench/cudart/stream.h"

using namespace weft::cudart;

int weft::cudart::driver_code(Status status) {
  switch (status) {
    case Status::InvalidConfiguration:
    case Status::InvalidPitchValue:
    case Status::InvalidDevicePointer:
    case Status::InvalidChannelDescriptor:
    case Status::InvalidMemcpyDirection:
    case Status::MissingConfiguration:
      return static_cast<int>(Status::InvalidValue);
    case Status::InvalidSymbol:
      return static_cast<int>(Status::SymbolNotFound);
    case Status::InvalidDeviceFunction:
      return static_cast<int>(Status::InvalidResourceHandle);
    default:
      return static_cast<int>(status);
  }
}

extern "C" {

int cuInit(unsigned flags) {
  if (flags != 0) return driver_code(Status::InvalidValue);
  start();
  return driver_code(ready());
}
int cuDriverGetVersion(int* version) {
  if (version == nullptr) return driver_code(Status::InvalidValue);
  *version = abi::kVersion;
  return 0;
}
int cuGetErrorName(int error, const char** name) {
  if (name == nullptr) return driver_code(Status::InvalidValue);
  *name = driver_error_name(error);
  return *name != nullptr ? 0 : driver_code(Status::InvalidValue);
}
int cuGetErrorString(int error, const char** text) {
  if (text == nullptr) return driver_code(Status::InvalidValue);
  *text = driver_error_name(error) != nullptr ? error_text(error) : nullptr;
  return *text != nullptr ? 0 : driver_code(Status::InvalidValue);
}

int cuDeviceGet(int* device, int ordinal) {
  return device_answer([&] {
    if (device == nullptr) return Status::InvalidValue;
    if (ordinal < 0 || ordinal >= kDeviceCount) return Status::InvalidDevice;
    *device = ordinal;
    return Status::Success;
  });
}
int cuDeviceGetCount(int* count) {
  return device_answer([&] {
    if (count == nullptr) return Status::InvalidValue;
    *count = kDeviceCount;
    return Status::Success;
  });
}
int cuDeviceGetName(char* name, int length, int device) {
  return device_answer([&] { return get_device_name(name, length, device); });
}
int cuDeviceGetUuid_v2(char* uuid, int device) {
  return device_answer([&] { return get_device_uuid(uuid, device); });
}
int cuDeviceGetUuid(char* uuid, int device) {
  return cuDeviceGetUuid_v2(uuid, device);
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return device_answer([&] {
    if (bytes == nullptr) return Status::InvalidValue;
    if (device != 0) return Status::InvalidDevice;
    *bytes = model().global_memory;
    return Status::Success;
  });
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return device_answer([&] { return get_device_attribute(value, attribute, device); });
}
int cuDeviceComputeCapability(int* major, int* minor, int device) {
  return device_answer([&] {
    EXPECT_SUCCESS(get_device_attribute(major, 75, device));
    return get_device_attribute(minor, 76, device);
  });
}
int cuDeviceGetPCIBusId(char* id, int length, int device) {
  return device_answer([&] { return get_bus_id(id, length, device); });
}
int cuDeviceGetByPCIBusId(int* device, const char* id) {
  return device_answer([&] { return find_by_bus_id(device, id); });
}
int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  return device_answer([&] {
    if (can == nullptr) return Status::InvalidValue;
    if (device != 0 || peer != 0) return Status::InvalidDevice;
    *can = 0;
    return Status::Success;
  });
}
int cuDeviceGetP2PAttribute(int* value, int attribute, int from, int to) {
  return device_answer([&] { return get_peer_attribute(value, attribute, from, to); });
}
int cuDeviceGetExecAffinitySupport(int* supported, int, int device) {
  return device_answer([&] {
    if (supported == nullptr) return Status::InvalidValue;
    if (device != 0) return Status::InvalidDevice;
    *supported = 0;
    return Status::Success;
  });
}
int cuDeviceGraphMemTrim(int device) {
  return device_answer([&] { return device == 0 ? Status::Success : Status::InvalidDevice; });
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  return device_answer([&] { return retain_primary(context, device); });
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  return device_answer([&] { return release_primary(device); });
}
int cuDevicePrimaryCtxReset_v2(int device) {
  return device_answer([&] { return device == 0 ? Status::Success : Status::InvalidDevice; });
}
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  return device_answer([&] { return set_primary_flags(device, flags); });
}
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return device_answer([&] { return get_primary_state(device, flags, active); });
}

int cuCtxCreate_v2(void** context, unsigned flags, int device) {
  return device_answer([&] { return create_context(context, flags, device); });
}
int cuCtxCreate_v3(void** context, void*, int, unsigned flags, int device) {
  return cuCtxCreate_v2(context, flags, device);
}
int cuCtxCreate_v4(void** context, void*, unsigned flags, int device) {
  return cuCtxCreate_v2(context, flags, device);
}
int cuCtxDestroy_v2(void* context) {
  return device_answer([&] { return destroy_context(context); });
}
int cuCtxPushCurrent_v2(void* context) {
  return device_answer([&] { return push_context(context); });
}
int cuCtxPopCurrent_v2(void** context) {
  return device_answer([&] { return pop_context(context); });
}
int cuCtxSetCurrent(void* context) {
  return device_answer([&] { return set_context(context); });
}
int cuCtxGetCurrent(void** context) {
  return device_answer([&] { return get_context(context); });
}
int cuCtxGetDevice(int* device) {
  return context_answer([&] {
    if (device == nullptr) return Status::InvalidValue;
    *device = 0;
    return Status::Success;
  });
}
int cuCtxGetDevice_v2(int* device, void* context) {
  return device_answer([&] {
    if (device == nullptr) return Status::InvalidValue;
    if (context != nullptr ? !is_context(context) : !has_context()) return Status::InvalidContext;
    *device = 0;
    return Status::Success;
  });
}
int cuCtxGetFlags(unsigned* flags) {
  return context_answer([&] { return get_context_flags(flags); });
}
int cuCtxSetFlags(unsigned flags) {
  return context_answer([&] { return set_context_flags(flags); });
}
int cuCtxGetId(void* context, unsigned long long* id) {
  return device_answer([&] { return get_context_id(context, id); });
}
int cuCtxGetApiVersion(void*, unsigned* version) {
  return device_answer([&] {
    if (version == nullptr) return Status::InvalidValue;
    *version = 3020;
    return Status::Success;
  });
}
int cuCtxSynchronize() {
  return context_answer(synchronize_device);
}
int cuCtxSynchronize_v2(void*) {
  return context_answer(synchronize_device);
}
int cuCtxSetLimit(int limit, size_t value) {
  return context_answer([&] { return set_limit(limit, value); });
}
int cuCtxGetLimit(size_t* value, int limit) {
  return context_answer([&] { return get_limit(value, limit); });
}
int cuCtxGetCacheConfig(int* config) {
  return context_answer([&] {
    if (config == nullptr) return Status::InvalidValue;
    *config = 0;
    return Status::Success;
  });
}
int cuCtxSetCacheConfig(int config) {
  return context_answer(
      [&] { return config >= 0 && config <= 3 ? Status::Success : Status::InvalidValue; });
}
int cuCtxGetSharedMemConfig(int* config) {
  return context_answer([&] {
    if (config == nullptr) return Status::InvalidValue;
    *config = 1;  // banks of four bytes
    return Status::Success;
  });
}
int cuCtxSetSharedMemConfig(int config) {
  return context_answer(
      [&] { return config >= 0 && config <= 2 ? Status::Success : Status::InvalidValue; });
}
int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return context_answer([&] {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return Status::Success;
  });
}
int cuCtxResetPersistingL2Cache() {
  return context_answer([] { return Status::Success; });
}
int cuCtxEnablePeerAccess(void*, unsigned) {
  return context_answer([] { return Status::InvalidContext; });
}
int cuCtxDisablePeerAccess(void*) {
  return context_answer([] { return Status::PeerAccessNotEnabled; });
}
int cuProfilerStart() {
  return context_answer([] { return Status::Success; });
}
int cuProfilerStop() {
  return context_answer([] { return Status::Success; });
}

}  // extern "C"
