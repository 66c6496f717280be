// SPDX-License-Identifier: Apache-2.0

// The device as programs may query it: one table of attributes, from which the property structure
// is filled too, so that both always agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ptxbench/cudart/abi.h"
#include "ptxbench/cudart/status.h"
#include "ptxbench/emulator/device_model.h"

namespace weft::cudart {

// The emulated machine holds one device.
inline constexpr int kDeviceCount = 1;

// Numbered as cudaDeviceAttr and CUdevice_attribute. Nothing for a number CUDA 13.0 does not
// define.
std::optional<int> device_attribute(const emulator::DeviceModel& model, int attribute);
void fill_properties(const emulator::DeviceModel& model, abi::DeviceProperties& properties);

Status get_device_attribute(int* value, int attribute, int device);
Status get_device_properties(abi::DeviceProperties* properties, int device);
Status get_device_uuid(char uuid[16], int device);
Status get_device_name(char* name, int length, int device);
Status get_bus_id(char* id, int length, int device);
Status find_by_bus_id(int* device, const char* id);
Status get_peer_attribute(int* value, int attribute, int from, int to);

// cudaLimit and CUlimit. Values are kept and answered; the emulator itself needs no such limits.
Status set_limit(int limit, size_t value);
Status get_limit(size_t* value, int limit);

Status set_device(int device);
int current_device();
Status set_device_flags(unsigned flags);
unsigned device_flags();

}  // namespace weft::cudart
