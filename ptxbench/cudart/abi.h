// SPDX-License-Identifier: Apache-2.0

// The structures that CUDA 13.0 programs pass across the API, so that the library builds on
// machines without CUDA's headers. Sizes and offsets are checked against the real headers by
// abi_test.cc where those are installed. Enumerations travel as int.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::cudart::abi {

inline constexpr int kVersion = 13000;  // what cudaRuntimeGetVersion and cuDriverGetVersion answer

struct Dim3 {
  uint32_t x, y, z;
};
struct Extent {
  size_t width, height, depth;
};  // elements of arrays, bytes of linear memory
struct Position {
  size_t x, y, z;
};
struct PitchedPointer {
  void* pointer;
  size_t pitch, x_size, y_size;
};
struct ChannelFormat {
  int x, y, z, w;
  int kind;
};  // bits a channel
struct Location {
  int type;
  int id;
};  // 1 device, 2 host, 3 host NUMA node

enum CopyKind : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefaultKind };
enum MemoryType : int { kUnregistered, kHost, kDevice, kManaged };
enum ChannelKind : int { kSigned, kUnsigned, kFloat, kNone };

struct Array;  // opaque to programs
struct MipmappedArray;

struct Copy3D {
  Array* source_array;
  Position source_position;
  PitchedPointer source;
  Array* target_array;
  Position target_position;
  PitchedPointer target;
  Extent extent;
  int kind;
};
struct CopyNode {
  int flags;
  int reserved[3];
  Copy3D copy;
};
struct PeerCopy3D {
  Array* source_array;
  Position source_position;
  PitchedPointer source;
  int source_device;
  Array* target_array;
  Position target_position;
  PitchedPointer target;
  int target_device;
  Extent extent;
};
struct Fill {
  void* target;
  size_t pitch;
  uint32_t value;
  uint32_t element_size;  // bytes: 1, 2 or 4
  size_t width, height;   // elements, rows
};
using HostFunction = void (*)(void* user);
struct HostCall {
  HostFunction function;
  void* user;
};

struct PointerAttributes {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
  long reserved[8];
};

struct FunctionAttributes {
  size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads_per_block, registers, ptx_version, binary_version, cache_mode;
  int max_dynamic_shared_bytes, preferred_carveout;
  int cluster_must_be_set, required_cluster_width, required_cluster_height, required_cluster_depth;
  int cluster_scheduling_policy, non_portable_cluster_allowed;
  int reserved[16];
};
enum FunctionAttribute : int {
  kMaxDynamicShared = 8,
  kPreferredCarveout,
  kClusterMustBeSet,
  kRequiredClusterWidth,
  kRequiredClusterHeight,
  kRequiredClusterDepth,
  kNonPortableClusterAllowed,
  kClusterSchedulingPolicy,
};

struct PoolProperties {
  int allocation_type, handle_types;
  Location location;
  void* security_attributes;
  size_t max_size;
  uint16_t usage;
  unsigned char reserved[54];
};
struct AccessDescription {
  Location location;
  int flags;
};
struct AllocationNode {
  PoolProperties pool;
  const AccessDescription* access;
  size_t access_count, bytes;
  void* pointer;
};

struct KernelNode {
  void* function;
  Dim3 grid, block;
  uint32_t shared_bytes;
  void** parameters;
  void** extra;
};
struct ChildGraphNode {
  void* graph;
  int ownership;
};
struct EventNode {
  void* event;
};
struct ConditionalNode {
  uint64_t handle;
  int type;
  uint32_t size;
  void** graphs;
};
struct NodeParameters {
  int type;
  int reserved0[3];
  union {
    long long reserved1[29];
    KernelNode kernel;
    CopyNode copy;
    Fill fill;
    HostCall host;
    ChildGraphNode graph;
    EventNode event;
    AllocationNode allocation;
    void* free_pointer;
    ConditionalNode conditional;
  };
  long long reserved2;
};
enum NodeType : int {
  kKernelNode,
  kCopyNode,
  kFillNode,
  kHostNode,
  kGraphNode,
  kEmptyNode,
  kWaitEventNode,
  kRecordEventNode,
  kAllocationNode = 10,
  kFreeNode = 11,
  kConditionalNode = 13,
};
struct EdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};
struct UpdateResult {
  int result;
  void* error_node;
  void* error_from_node;
};
struct InstantiateParameters {
  uint64_t flags;
  void* upload_stream;
  void* error_node;
  int result;
};

enum LaunchAttributeId : int {
  kAttributeIgnore,
  kAttributeAccessPolicyWindow,
  kAttributeCooperative,
  kAttributeSynchronizationPolicy,
  kAttributeClusterDimension,
  kAttributeClusterSchedulingPolicy,
  kAttributeProgrammaticSerialization,
  kAttributeProgrammaticEvent,
  kAttributePriority,
  kAttributeMemSyncDomainMap,
  kAttributeMemSyncDomain,
  kAttributePreferredClusterDimension,
  kAttributeLaunchCompletionEvent,
  kAttributeDeviceUpdatableNode,
  kAttributePreferredCarveout,
};
union AttributeValue {
  char pad[64];
  int number;
  uint32_t dimensions[3];
  struct {
    void* event;
    int flags;
    int trigger_at_start;
  } event;
};
struct LaunchAttribute {
  int id;
  char pad[4];
  AttributeValue value;
};
struct LaunchConfiguration {  // cudaLaunchConfig_t
  Dim3 grid, block;
  size_t shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  uint32_t attribute_count;
};

struct ResourceDescription {  // cudaResourceDesc
  int type;                   // 0 array, 1 mipmapped array, 2 linear, 3 pitched
  union {
    struct {
      Array* array;
    } array;
    struct {
      MipmappedArray* mipmap;
    } mipmap;
    struct {
      void* pointer;
      ChannelFormat format;
      size_t bytes;
    } linear;
    struct {
      void* pointer;
      ChannelFormat format;
      size_t width, height, pitch;
    } pitched;
    int reserved[32];
  };
  uint32_t flags;
};
struct ResourceView {  // cudaResourceViewDesc
  int format;
  size_t width, height, depth;
  uint32_t first_level, last_level, first_layer, last_layer;
  uint32_t reserved[16];
};
struct TextureDescription {  // cudaTextureDesc
  int address_mode[3];       // 0 wrap, 1 clamp, 2 mirror, 3 border
  int filter_mode;           // 0 point, 1 linear
  int read_mode;             // 0 element type, 1 normalised float
  int srgb;
  float border[4];
  int normalized;
  uint32_t max_anisotropy;
  int mipmap_filter_mode;
  float mipmap_bias, min_mipmap, max_mipmap;
  int disable_trilinear;
  int seamless_cubemap;
};

struct DeviceProperties {  // cudaDeviceProp of CUDA 13
  char name[256];
  char uuid[16];
  char luid[8];
  uint32_t luid_device_node_mask;
  size_t total_global_memory, shared_per_block;
  int registers_per_block, warp_size;
  size_t memory_pitch;
  int max_threads_per_block, max_threads_dim[3], max_grid_size[3];
  size_t total_constant_memory;
  int major, minor;
  size_t texture_alignment, texture_pitch_alignment;
  int multiprocessors, integrated, can_map_host_memory;
  int max_texture_1d, max_texture_1d_mipmap, max_texture_2d[2], max_texture_2d_mipmap[2];
  int max_texture_2d_linear[3], max_texture_2d_gather[2], max_texture_3d[3], max_texture_3d_alt[3];
  int max_texture_cubemap, max_texture_1d_layered[2], max_texture_2d_layered[3];
  int max_texture_cubemap_layered[2];
  int max_surface_1d, max_surface_2d[2], max_surface_3d[3], max_surface_1d_layered[2];
  int max_surface_2d_layered[3], max_surface_cubemap, max_surface_cubemap_layered[2];
  size_t surface_alignment;
  int concurrent_kernels, ecc_enabled, pci_bus, pci_device, pci_domain, tcc_driver;
  int async_engines, unified_addressing, memory_bus_width, level2_cache, persisting_level2_max;
  int max_threads_per_multiprocessor, stream_priorities, global_level1_cache, local_level1_cache;
  size_t shared_per_multiprocessor;
  int registers_per_multiprocessor, managed_memory, multi_gpu_board, multi_gpu_board_group;
  int host_native_atomics, pageable_memory_access, concurrent_managed_access;
  int compute_preemption, host_pointer_for_registered, cooperative_launch;
  size_t shared_per_block_optin;
  int pageable_uses_host_tables, direct_managed_from_host, max_blocks_per_multiprocessor;
  int access_policy_max_window;
  size_t reserved_shared_per_block;
  int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools;
  int gpu_direct_rdma;
  uint32_t gpu_direct_flush_options;
  int gpu_direct_write_ordering;
  uint32_t pool_handle_types;
  int deferred_mapping_arrays, ipc_events, cluster_launch, unified_function_pointers;
  int numa_config, numa_id, mps_enabled, host_numa_id;
  uint32_t gpu_pci_device, gpu_pci_subsystem;
  int host_numa_multinode_ipc;
  int reserved[56];
};

// The driver's own structures
// -----------------------------------------------------------------------

struct DriverCopy2D {  // CUDA_MEMCPY2D: memory types 1 host, 2 device, 3 array, 4 unified
  size_t source_x, source_y;
  int source_type;
  const void* source_host;
  uint64_t source_device;
  void* source_array;
  size_t source_pitch;
  size_t target_x, target_y;
  int target_type;
  void* target_host;
  uint64_t target_device;
  void* target_array;
  size_t target_pitch;
  size_t width, height;  // bytes, rows
};
struct DriverCopy3D {  // CUDA_MEMCPY3D
  size_t source_x, source_y, source_z, source_level;
  int source_type;
  const void* source_host;
  uint64_t source_device;
  void* source_array;
  void* reserved0;
  size_t source_pitch, source_height;
  size_t target_x, target_y, target_z, target_level;
  int target_type;
  void* target_host;
  uint64_t target_device;
  void* target_array;
  void* reserved1;
  size_t target_pitch, target_height;
  size_t width, height, depth;
};
struct DriverArray {  // CUDA_ARRAY_DESCRIPTOR
  size_t width, height;
  int format;
  uint32_t channels;
};
struct DriverArray3D {  // CUDA_ARRAY3D_DESCRIPTOR
  size_t width, height, depth;
  int format;
  uint32_t channels, flags;
};
struct DriverLaunch {  // CUlaunchConfig
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  uint32_t attribute_count;
};
struct DriverKernelNode {  // CUDA_KERNEL_NODE_PARAMS_v2
  void* function;
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;
  void** parameters;
  void** extra;
  void* kernel;
  void* context;
};
struct AllocationProperties {  // CUmemAllocationProp
  int type, requested_handles;
  Location location;
  void* win32;
  struct {
    unsigned char compression, rdma;
    uint16_t usage;
    unsigned char reserved[4];
  } flags;
};

}  // namespace weft::cudart::abi
