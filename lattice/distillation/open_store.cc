// SPDX-License-Identifier: Apache-2.0

// A machine that only trains may lack an engine; then its addresses are errors.
#include "lattice/distillation/open_store.h"

#ifdef WEFT_ROCKSDB
#include "lattice/distillation/rocks_store.h"
#endif
#ifdef WEFT_HIREDIS
#include "lattice/distillation/redis_store.h"
#endif

namespace weft::lattice {
namespace {

// Either way of opening: what follows the address goes to the engine as it is.
template <typename... More>
Result<std::unique_ptr<TeacherStore>> open_in_redis(const std::string& address,
                                                    const More&... more) {
#ifdef WEFT_HIREDIS
  return open_redis_store(address, more...);
#else
  (static_cast<void>(more), ...);
  return Error("this build cannot reach a teacher's store in Redis: " + address,
               "install hiredis (tools/packages.txt) and build again");
#endif
}

template <typename... More>
Result<std::unique_ptr<TeacherStore>> open_in_folder(const std::string& address,
                                                     const More&... more) {
#ifdef WEFT_ROCKSDB
  return open_rocks_store(address, more...);
#else
  (static_cast<void>(more), ...);
  return Error("this build cannot keep a teacher's store in a folder: " + address,
               "install RocksDB (tools/packages.txt) and build again");
#endif
}

bool in_redis(const std::string& address) {
  return address.starts_with("redis://") || address.starts_with("unix:");
}

}  // namespace

Result<std::unique_ptr<TeacherStore>> open_store(const std::string& address,
                                                 const TeacherDescription& description,
                                                 const StoreLimits& limits) {
  return in_redis(address) ? open_in_redis(address, description, limits)
                           : open_in_folder(address, description, limits);
}

Result<std::unique_ptr<TeacherStore>> open_store(const std::string& address, Access access) {
  return in_redis(address) ? open_in_redis(address) : open_in_folder(address, access);
}

}  // namespace weft::lattice
