// SPDX-License-Identifier: Apache-2.0

#include "base/redis/connection.h"

#include <hiredis/hiredis.h>
#include <poll.h>

#include <charconv>

namespace weft {
namespace {

constexpr timeval kConnectTimeout{.tv_sec = 5, .tv_usec = 0};

struct Address {
  std::string host = "127.0.0.1", path, database;
  int port = 6379;
};

Result<Address> parse_address(const std::string& url) {
  Address address;
  if (url.starts_with("unix:")) {
    address.path = url.substr(5);
    return address;
  }
  const Error wrong("not the URL of a Redis server: " + url,
                    "like redis://127.0.0.1:6379/0 or unix:/run/redis.sock");
  if (!url.starts_with("redis://")) return wrong;
  std::string rest = url.substr(8);
  if (const size_t slash = rest.find('/'); slash != std::string::npos) {
    address.database = rest.substr(slash + 1);
    rest.resize(slash);
  }
  if (const size_t colon = rest.rfind(':'); colon != std::string::npos) {
    const char* end = rest.data() + rest.size();
    const auto [last, failure] = std::from_chars(rest.data() + colon + 1, end, address.port);
    if (failure != std::errc() || last != end) return wrong;
    rest.resize(colon);
  }
  if (rest.empty()) return wrong;
  address.host = rest;
  return address;
}

RedisReply translated(const redisReply& from) {
  RedisReply reply;
  switch (from.type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      reply.kind = RedisReply::Kind::Text;
      reply.text.assign(from.str, from.len);
      break;
    case REDIS_REPLY_INTEGER:
      reply.kind = RedisReply::Kind::Integer;
      reply.integer = from.integer;
      break;
    case REDIS_REPLY_ARRAY:
      reply.kind = RedisReply::Kind::List;
      for (size_t i = 0; i < from.elements; ++i) reply.list.push_back(translated(*from.element[i]));
      break;
    default:
      break;
  }
  return reply;
}

}  // namespace

void RedisConnection::Close::operator()(redisContext* context) const {
  redisFree(context);
}

Result<RedisConnection> RedisConnection::open(const std::string& url) {
  const Address address = TRY(parse_address(url));
  redisContext* context =
      address.path.empty()
          ? redisConnectWithTimeout(address.host.c_str(), address.port, kConnectTimeout)
          : redisConnectUnixWithTimeout(address.path.c_str(), kConnectTimeout);
  if (context == nullptr) return Error("no memory for a connection to Redis");
  RedisConnection connection(context);
  if (context->err != 0)
    return Error("cannot connect to Redis at " + url + ": " + context->errstr,
                 "is redis-server running there?");
  if (!address.database.empty()) TRY(connection.command({"SELECT", address.database}));
  return connection;
}

Result<RedisReply> RedisConnection::received(void* raw) {
  if (raw == nullptr)
    return Error("the connection to Redis broke: " + std::string(context_->errstr));
  const std::unique_ptr<void, void (*)(void*)> owner(raw, freeReplyObject);
  const auto& reply = *static_cast<const redisReply*>(raw);
  if (reply.type == REDIS_REPLY_ERROR)
    return Error("Redis refused a command: " + std::string(reply.str, reply.len));
  return translated(reply);
}

Result<RedisReply> RedisConnection::command(const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<size_t> lengths;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    lengths.push_back(word.size());
  }
  return received(redisCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(),
                                   lengths.data()));
}

Result<RedisReply> RedisConnection::next(double seconds) {
  void* reply = nullptr;
  // What was read together with an earlier message comes first.
  if (redisGetReplyFromReader(context_.get(), &reply) != REDIS_OK) return received(nullptr);
  if (reply != nullptr) return received(reply);
  pollfd event{.fd = context_->fd, .events = POLLIN, .revents = 0};
  if (poll(&event, 1, static_cast<int>(seconds * 1000)) <= 0) return RedisReply{};
  if (redisGetReply(context_.get(), &reply) != REDIS_OK) return received(nullptr);
  return received(reply);
}

}  // namespace weft
