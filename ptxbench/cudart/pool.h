// SPDX-License-Identifier: Apache-2.0

// Memory pools: handles with attributes. All of them draw from the one device memory, which keeps
// nothing back, so what a pool reserves is what it uses.
#pragma once

#include "ptxbench/cudart/abi.h"
#include "ptxbench/cudart/status.h"

namespace weft::cudart {

bool is_pool(const void* pool);
Status create_pool(void** pool, const abi::PoolProperties* properties);
Status destroy_pool(void* pool);
Status get_default_pool(void** pool, int device);
Status get_current_pool(void** pool, int device);
Status set_current_pool(int device, void* pool);
Status set_pool_attribute(void* pool, int attribute, void* value);
Status get_pool_attribute(void* pool, int attribute, void* value);

}  // namespace weft::cudart
