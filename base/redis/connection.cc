// SPDX-License-Identifier: Apache-2.0

#include "base/redis/connection.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <signal.h>

#include <cerrno>
#include <charconv>
#include <optional>

namespace weft {
namespace {

timeval duration(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  return {.tv_sec = whole,
          .tv_usec = static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)};
}

void append(redisContext* context, const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<size_t> lengths;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    lengths.push_back(word.size());
  }
  redisAppendCommandArgv(context, static_cast<int>(words.size()), texts.data(), lengths.data());
}

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

Result<RedisConnection> RedisConnection::open(const std::string& url,
                                              const RedisTimeouts& timeouts) {
  const Address address = TRY(parse_address(url));
  redisContext* context =
      address.path.empty()
          ? redisConnectWithTimeout(address.host.c_str(), address.port,
                                    duration(timeouts.connect_seconds))
          : redisConnectUnixWithTimeout(address.path.c_str(), duration(timeouts.connect_seconds));
  if (context == nullptr) return Error("no memory for a connection to Redis");
  RedisConnection connection(context);
  if (context->err != 0)
    return Error("cannot connect to Redis at " + url + ": " + context->errstr,
                 "is redis-server running there?");
  if (timeouts.answer_seconds > 0) redisSetTimeout(context, duration(timeouts.answer_seconds));
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

namespace {

// Writing to a server that is gone is an error of this thread's call, not a signal for the process;
// hiredis does not ask the system for that.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    sigset_t waiting;
    sigpending(&waiting);
    was_waiting_ = sigismember(&waiting, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    const timespec none{};
    if (!was_waiting_)
      while (sigtimedwait(&pipe_, nullptr, &none) == -1 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  bool was_waiting_ = false;
  sigset_t pipe_{}, before_{};
};

}  // namespace

Result<RedisReply> RedisConnection::command(const std::vector<std::string>& words) {
  const WithoutPipeSignal quiet;
  append(context_.get(), words);
  void* reply = nullptr;
  if (redisGetReply(context_.get(), &reply) != REDIS_OK) return received(nullptr);
  return received(reply);
}

Result<std::vector<RedisReply>> RedisConnection::commands(
    const std::vector<std::vector<std::string>>& all) {
  const WithoutPipeSignal quiet;
  for (const std::vector<std::string>& words : all) append(context_.get(), words);
  std::vector<RedisReply> replies;
  std::optional<Error> refused;  // the answers after it have to be read nevertheless
  for (size_t i = 0; i < all.size(); ++i) {
    void* raw = nullptr;
    if (redisGetReply(context_.get(), &raw) != REDIS_OK) return received(nullptr).error();
    Result<RedisReply> reply = received(raw);
    if (reply.ok())
      replies.push_back(*std::move(reply));
    else if (!refused)
      refused = reply.error();
  }
  if (refused) return *refused;
  return replies;
}

bool RedisConnection::broken() const {
  return context_->err != 0;
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
