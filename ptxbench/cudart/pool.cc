// SPDX-License-Identifier: Apache-2.0

// Attributes are kept as the program sets them; usage is that of the whole device.
#include "ptxbench/cudart/pool.h"

#include <atomic>

#include "ptxbench/cudart/live.h"
#include "ptxbench/cudart/process.h"

namespace weft::cudart {
namespace {

struct Pool : Live<Pool> {
  int reuse[3] = {1, 1, 1};
  uint64_t release_threshold = 0;
};

Pool& default_pool() {
  static Pool& pool = *new Pool;
  return pool;
}

std::atomic<Pool*> current{nullptr};

}  // namespace

bool is_pool(const void* pool) {
  return pool == &default_pool() || Pool::find(pool) != nullptr;
}

Status create_pool(void** pool, const abi::PoolProperties* properties) {
  if (pool == nullptr || properties == nullptr) return Status::InvalidValue;
  if (properties->handle_types != 0) return Status::NotSupported;
  *pool = new Pool;
  return Status::Success;
}

Status destroy_pool(void* pool) {
  Pool* found = Pool::find(pool);
  if (found == nullptr || found == &default_pool()) return Status::InvalidValue;
  Pool* expected = found;
  current.compare_exchange_strong(expected, nullptr);
  delete found;
  return Status::Success;
}

Status get_default_pool(void** pool, int device) {
  if (pool == nullptr) return Status::InvalidValue;
  if (device != 0) return Status::InvalidDevice;
  *pool = &default_pool();
  return Status::Success;
}

Status get_current_pool(void** pool, int device) {
  EXPECT_SUCCESS(get_default_pool(pool, device));
  if (Pool* set = current) *pool = set;
  return Status::Success;
}

Status set_current_pool(int device, void* pool) {
  if (device != 0) return Status::InvalidDevice;
  if (!is_pool(pool)) return Status::InvalidValue;
  current = static_cast<Pool*>(pool);
  return Status::Success;
}

Status set_pool_attribute(void* pool, int attribute, void* value) {
  if (!is_pool(pool) || value == nullptr) return Status::InvalidValue;
  auto* found = static_cast<Pool*>(pool);
  switch (attribute) {
    case 1:
    case 2:
    case 3:
      found->reuse[attribute - 1] = *static_cast<int*>(value);
      break;
    case 4:
      found->release_threshold = *static_cast<uint64_t*>(value);
      break;
    case 6:
    case 8:  // high-water marks can only be reset
      return *static_cast<uint64_t*>(value) == 0 ? Status::Success : Status::InvalidValue;
    default:
      return Status::InvalidValue;
  }
  return Status::Success;
}

Status get_pool_attribute(void* pool, int attribute, void* value) {
  if (!is_pool(pool) || value == nullptr) return Status::InvalidValue;
  const auto* found = static_cast<const Pool*>(pool);
  switch (attribute) {
    case 1:
    case 2:
    case 3:
      *static_cast<int*>(value) = found->reuse[attribute - 1];
      break;
    case 4:
      *static_cast<uint64_t*>(value) = found->release_threshold;
      break;
    case 5:
    case 6:
    case 7:
    case 8:
      *static_cast<uint64_t*>(value) = machine().memory().used();
      break;
    default:
      return Status::InvalidValue;
  }
  return Status::Success;
}

}  // namespace weft::cudart
