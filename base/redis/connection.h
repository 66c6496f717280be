// SPDX-License-Identifier: Apache-2.0

// Redis as Results: commands in, replies as values out. A connection serves one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

struct redisContext;

namespace weft {

struct RedisReply {
  enum class Kind : uint8_t { Nothing, Text, Integer, List };
  Kind kind = Kind::Nothing;
  std::string text;
  int64_t integer = 0;
  std::vector<RedisReply> list;
};

struct RedisTimeouts {
  double connect_seconds = 5;
  double answer_seconds = 0;  // 0: as long as it takes
};

class RedisConnection {
 public:
  // redis://host:port/database (the last two may be absent), or unix:/path.
  static Result<RedisConnection> open(const std::string& url, const RedisTimeouts& timeouts = {});

  // An answer of Redis that is an error is an error here.
  Result<RedisReply> command(const std::vector<std::string>& words);
  // All are sent before the first answer is read.
  Result<std::vector<RedisReply>> commands(const std::vector<std::vector<std::string>>& all);
  // After a transport error or an answer that did not come in time nothing more can be asked.
  bool broken() const;
  // The next message of a subscription; nothing when none came in time.
  Result<RedisReply> next(double seconds);

 private:
  struct Close {
    void operator()(redisContext* context) const;
  };
  explicit RedisConnection(redisContext* context) : context_(context) {}
  Result<RedisReply> received(void* reply);

  std::unique_ptr<redisContext, Close> context_;
};

}  // namespace weft
