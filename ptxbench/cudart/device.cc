// SPDX-License-Identifier: Apache-2.0

// Values that the device model does not carry are those of CUDA devices of compute capability 9.0
// (CUDA C++ Programming Guide, technical specifications per compute capability), or 0 for abilities
// that the emulator does not have.
#include "ptxbench/cudart/device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "ptxbench/cudart/process.h"

namespace weft::cudart {
namespace {

constexpr int kPciBus = 0x65;  // any bus will do, as long as every query agrees

thread_local int thread_device = 0;
std::atomic<unsigned> flags{0};

// Stack, printf buffer, malloc heap, sync depth, pending launches, L2 granularity, persisting L2.
std::array<std::atomic<size_t>, 7> limits{1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};

}  // namespace

std::optional<int> device_attribute(const emulator::DeviceModel& model, int attribute) {
  const auto number = [](auto value) { return static_cast<int>(value); };
  switch (attribute) {
    case 1:
      return 1024;  // threads a block
    case 2:
    case 3:
      return 1024;  // block x, y
    case 4:
      return 64;  // block z
    case 5:
      return 2147483647;  // grid x
    case 6:
    case 7:
      return 65535;  // grid y, z
    case 8:
      return number(model.shared_per_block);
    case 9:
      return 65536;  // constant memory
    case 10:
      return 32;  // warp
    case 11:
      return 2147483647;  // pitch
    case 12:
      return number(model.registers_per_multiprocessor);  // registers a block
    case 13:
      return number(model.clock_khz);
    case 14:
      return 512;  // texture alignment
    case 15:
      return 1;  // copies overlap kernels
    case 16:
      return model.multiprocessors;
    case 17:
    case 18:
      return 0;  // time limit, integrated
    case 19:
      return 1;  // maps host memory
    case 20:
      return 0;  // compute mode: default
    case 21:
      return 131072;  // texture 1D
    case 22:
      return 131072;  // texture 2D
    case 23:
      return 65536;
    case 24:
    case 25:
    case 26:
      return 16384;  // texture 3D
    case 27:
    case 28:
      return 32768;  // texture 2D layered
    case 29:
      return 2048;
    case 30:
      return 512;  // surface alignment
    case 31:
      return 1;  // concurrent kernels
    case 32:
      return 1;  // ECC
    case 33:
      return kPciBus;
    case 34:
    case 35:
      return 0;  // PCI device, TCC
    case 36:
      return number(model.memory_clock_khz);
    case 37:
      return number(model.memory_bus_bits);
    case 38:
      return number(model.level2_cache);
    case 39:
      return number(model.max_threads_per_multiprocessor);
    case 40:
      return 3;  // copy engines
    case 41:
      return 1;  // unified addressing
    case 42:
      return 32768;  // texture 1D layered
    case 43:
      return 2048;
    case 44:
      return 0;
    case 45:
    case 46:
      return 32768;  // texture 2D gather
    case 47:
    case 48:
      return 8192;  // texture 3D, alternative
    case 49:
      return 32768;
    case 50:
      return 0;  // PCI domain
    case 51:
      return 32;  // texture pitch alignment
    case 52:
    case 53:
      return 32768;  // cube maps
    case 54:
      return 2046;
    case 55:
      return 32768;  // surfaces
    case 56:
      return 131072;
    case 57:
      return 65536;
    case 58:
    case 59:
    case 60:
      return 16384;
    case 61:
      return 32768;
    case 62:
      return 2048;
    case 63:
    case 64:
      return 32768;
    case 65:
      return 2048;
    case 66:
    case 67:
      return 32768;
    case 68:
      return 2046;
    case 69:
      return 268435456;  // texture 1D linear
    case 70:
      return 131072;  // texture 2D linear
    case 71:
      return 65000;
    case 72:
      return 2097120;
    case 73:
    case 74:
      return 32768;  // texture 2D mipmapped
    case 75:
      return model.compute_major;
    case 76:
      return model.compute_minor;
    case 77:
      return 32768;  // texture 1D mipmapped
    case 78:
    case 79:
    case 80:
      return 1;  // priorities, L1 for global and local
    case 81:
      return number(model.shared_per_multiprocessor);
    case 82:
      return number(model.registers_per_multiprocessor);
    case 83:
      return 1;  // managed memory
    case 84:
    case 85:
      return 0;  // boards with several devices
    case 86:
      return 1;  // host atomics: device memory is host memory
    case 87:
      return 2;  // single to double ratio
    case 88:
      return 0;  // kernels reach no unregistered host memory
    case 89:
    case 90:
      return 1;  // concurrent managed access, preemption
    case 91:
      return 1;  // host pointers of registered memory
    case 92:
    case 93:
    case 94:
      return 0;  // stream memory operations
    case 95:
      return 1;  // cooperative launch
    case 96:
      return 0;
    case 97:
      return number(model.shared_per_block_optin);
    case 98:
      return 0;
    case 99:
      return 1;  // host registration
    case 100:
    case 101:
      return 0;
    case 102:
      return 1;  // virtual memory management
    case 103:
    case 104:
    case 105:
      return 0;  // shareable handles
    case 106:
      return number(model.max_blocks_per_multiprocessor);
    case 107:
      return 0;  // compression
    case 108:
      return number(model.level2_cache * 5 / 8);  // persisting L2
    case 109:
      return 134213632;  // access policy window
    case 110:
      return 0;
    case 111:
      return number(model.reserved_shared_per_block);
    case 112:
      return 0;  // sparse arrays
    case 113:
      return 1;  // read-only registration
    case 114:
      return 0;  // timeline semaphores
    case 115:
      return 1;  // memory pools
    case 116:
    case 117:
    case 118:
      return 0;  // RDMA
    case 119:
      return 0;  // pool handle types
    case 120:
      return model.compute_major >= 9;  // clusters
    case 121:
    case 122:
    case 123:
    case 124:
    case 125:
      return 0;
    case 126:
      return 4;  // memory synchronisation domains
    case 127:
      return model.compute_major >= 9;  // tensor maps
    case 128:
    case 129:
    case 130:
      return 0;
    case 131:
      return -1;  // no NUMA node
    case 132:
    case 133:
      return 0;
    case 134:
      return -1;  // host NUMA node
    case 135:
    case 136:
    case 137:
    case 138:
      return 0;
    case 139:
    case 140:
    case 141:
    case 142:
    case 143:
    case 144:
    case 145:
    case 146:
    case 147:
      return 0;
    default:
      return std::nullopt;
  }
}

void fill_properties(const emulator::DeviceModel& model, abi::DeviceProperties& p) {
  const auto get = [&](int attribute) { return device_attribute(model, attribute).value_or(0); };
  const auto fill = [&](int* out, std::initializer_list<int> attributes) {
    for (const int attribute : attributes) *out++ = get(attribute);
  };
  std::memset(static_cast<void*>(&p), 0, sizeof p);
  const size_t length = std::min(model.name.size(), sizeof p.name - 1);
  std::memcpy(p.name, model.name.data(), length);
  (void)get_device_uuid(p.uuid, 0);
  p.total_global_memory = model.global_memory;
  p.shared_per_block = model.shared_per_block;
  p.registers_per_block = get(12);
  p.warp_size = get(10);
  p.memory_pitch = static_cast<size_t>(get(11));
  p.max_threads_per_block = get(1);
  fill(p.max_threads_dim, {2, 3, 4});
  fill(p.max_grid_size, {5, 6, 7});
  p.total_constant_memory = static_cast<size_t>(get(9));
  p.major = model.compute_major;
  p.minor = model.compute_minor;
  p.texture_alignment = static_cast<size_t>(get(14));
  p.texture_pitch_alignment = static_cast<size_t>(get(51));
  p.multiprocessors = get(16);
  p.can_map_host_memory = get(19);
  p.max_texture_1d = get(21);
  p.max_texture_1d_mipmap = get(77);
  fill(p.max_texture_2d, {22, 23});
  fill(p.max_texture_2d_mipmap, {73, 74});
  fill(p.max_texture_2d_linear, {70, 71, 72});
  fill(p.max_texture_2d_gather, {45, 46});
  fill(p.max_texture_3d, {24, 25, 26});
  fill(p.max_texture_3d_alt, {47, 48, 49});
  p.max_texture_cubemap = get(52);
  fill(p.max_texture_1d_layered, {42, 43});
  fill(p.max_texture_2d_layered, {27, 28, 29});
  fill(p.max_texture_cubemap_layered, {53, 54});
  p.max_surface_1d = get(55);
  fill(p.max_surface_2d, {56, 57});
  fill(p.max_surface_3d, {58, 59, 60});
  fill(p.max_surface_1d_layered, {61, 62});
  fill(p.max_surface_2d_layered, {63, 64, 65});
  p.max_surface_cubemap = get(66);
  fill(p.max_surface_cubemap_layered, {67, 68});
  p.surface_alignment = static_cast<size_t>(get(30));
  p.concurrent_kernels = get(31);
  p.ecc_enabled = get(32);
  p.pci_bus = get(33);
  p.async_engines = get(40);
  p.unified_addressing = get(41);
  p.memory_bus_width = get(37);
  p.level2_cache = get(38);
  p.persisting_level2_max = get(108);
  p.max_threads_per_multiprocessor = get(39);
  p.stream_priorities = get(78);
  p.global_level1_cache = get(79);
  p.local_level1_cache = get(80);
  p.shared_per_multiprocessor = model.shared_per_multiprocessor;
  p.registers_per_multiprocessor = get(82);
  p.managed_memory = get(83);
  p.host_native_atomics = get(86);
  p.pageable_memory_access = get(88);
  p.concurrent_managed_access = get(89);
  p.compute_preemption = get(90);
  p.host_pointer_for_registered = get(91);
  p.cooperative_launch = get(95);
  p.shared_per_block_optin = model.shared_per_block_optin;
  p.max_blocks_per_multiprocessor = get(106);
  p.access_policy_max_window = get(109);
  p.reserved_shared_per_block = model.reserved_shared_per_block;
  p.host_register = get(99);
  p.host_register_read_only = get(113);
  p.memory_pools = get(115);
  p.cluster_launch = get(120);
  p.numa_id = get(131);
  p.host_numa_id = get(134);
}

Status get_device_attribute(int* value, int attribute, int device) {
  if (value == nullptr) return Status::InvalidValue;
  if (device != 0) return Status::InvalidDevice;
  const auto found = device_attribute(model(), attribute);
  if (!found) return Status::InvalidValue;
  *value = *found;
  return Status::Success;
}

Status get_device_properties(abi::DeviceProperties* properties, int device) {
  if (properties == nullptr) return Status::InvalidValue;
  if (device != 0) return Status::InvalidDevice;
  fill_properties(model(), *properties);
  return Status::Success;
}

Status get_device_uuid(char uuid[16], int device) {
  if (uuid == nullptr) return Status::InvalidValue;
  if (device != 0) return Status::InvalidDevice;
  std::memcpy(uuid, "weft-emulated-00", 16);
  return Status::Success;
}

Status get_device_name(char* name, int length, int device) {
  if (name == nullptr || length <= 0) return Status::InvalidValue;
  if (device != 0) return Status::InvalidDevice;
  const size_t size = std::min(model().name.size(), static_cast<size_t>(length) - 1);
  std::memcpy(name, model().name.data(), size);
  name[size] = '\0';
  return Status::Success;
}

Status get_bus_id(char* id, int length, int device) {
  if (id == nullptr || length < 13) return Status::InvalidValue;
  if (device != 0) return Status::InvalidDevice;
  std::snprintf(id, static_cast<size_t>(length), "%04X:%02X:%02X.0", 0, kPciBus, 0);
  return Status::Success;
}

Status find_by_bus_id(int* device, const char* id) {
  if (device == nullptr || id == nullptr) return Status::InvalidValue;
  char own[16];
  EXPECT_SUCCESS(get_bus_id(own, sizeof own, 0));
  const std::string_view wanted(id), full(own);
  // The domain and the function may be left out.
  if (wanted.empty() || full.find(wanted) == std::string_view::npos) return Status::InvalidDevice;
  *device = 0;
  return Status::Success;
}

Status get_peer_attribute(int* value, int attribute, int from, int to) {
  if (value == nullptr || attribute < 1 || attribute > 5) return Status::InvalidValue;
  if (from < 0 || from >= kDeviceCount || to < 0 || to >= kDeviceCount || from == to)
    return Status::InvalidDevice;
  *value = 0;
  return Status::Success;
}

Status set_limit(int limit, size_t value) {
  if (limit < 0 || static_cast<size_t>(limit) >= limits.size()) return Status::InvalidValue;
  limits[static_cast<size_t>(limit)] = value;
  return Status::Success;
}

Status get_limit(size_t* value, int limit) {
  if (value == nullptr || limit < 0 || static_cast<size_t>(limit) >= limits.size())
    return Status::InvalidValue;
  *value = limits[static_cast<size_t>(limit)];
  return Status::Success;
}

Status set_device(int device) {
  if (device < 0 || device >= kDeviceCount) return Status::InvalidDevice;
  thread_device = device;
  return Status::Success;
}

int current_device() {
  return thread_device;
}

Status set_device_flags(unsigned value) {
  flags = value;
  return Status::Success;
}

unsigned device_flags() {
  return flags;
}

}  // namespace weft::cudart
