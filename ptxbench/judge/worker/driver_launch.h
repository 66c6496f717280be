// SPDX-License-Identifier: Apache-2.0

// What a launch through the driver API is described with; layouts and numbers are those of cuda.h.
#pragma once

#include <cstdint>

namespace weft::judge {

// CUlaunchAttribute.
struct LaunchAttribute {
  int id = 4;  // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
  char padding[4] = {};
  uint32_t value[16] = {};
};
static_assert(sizeof(LaunchAttribute) == 72);

// CUlaunchConfig.
struct LaunchConfig {
  uint32_t grid[3], block[3];
  uint32_t shared;
  void* stream;
  LaunchAttribute* attributes;
  uint32_t attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56);

constexpr int kMaxDynamicShared = 8;     // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kNonPortableCluster = 14;  // CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED

}  // namespace weft::judge
