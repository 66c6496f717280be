// SPDX-License-Identifier: Apache-2.0

// The teacher store of several machines: a key of Redis for each pair and time bucket, which Redis
// itself drops when the retention has passed since it was written.
//
// Redis may be away or slow. A look-up then gives misses (Away) at once or after the time limit,
// and the next attempt to connect is made a while later: a student goes on without its teacher, and
// with it again when Redis is back. A write that fails is an error: its batch may be written again.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "lattice/distillation/open_store.h"

namespace weft::lattice {

struct RedisStoreOptions {
  double connect_seconds = 1;
  double answer_seconds = 0.5;  // for what is sent at once
  double retry_seconds = 1;     // between attempts to connect
};

// "redis://host:port/database#name" or "unix:/path#name"; stores of several names share a server.
//
// As open_store. Opening needs Redis: it is there that the store says whose it is.
Result<std::unique_ptr<TeacherStore>> open_redis_store(const std::string& address,
                                                       const TeacherDescription& description,
                                                       const StoreLimits& limits,
                                                       const RedisStoreOptions& options = {});
Result<std::unique_ptr<TeacherStore>> open_redis_store(const std::string& address,
                                                       const RedisStoreOptions& options = {});

}  // namespace weft::lattice
