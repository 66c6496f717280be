// SPDX-License-Identifier: Apache-2.0

// A client of OpenAI-compatible chat endpoints (POST {url}/chat/completions). What may pass (no
// connection, a time-out, a rate limit, a server's own error, an answer that was cut) is asked
// again with growing, jittered pauses, or after the pause that the server names; what will not pass
// is an error at once. The key comes from the environment and is in no message, file or log.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/http/client.h"
#include "base/result.h"
#include "ptxbench/chat/reply.h"

namespace weft::chat {

struct Endpoint {
  std::string url;           // of the API's root: "https://host/v1"
  std::string key_variable;  // environment variable with the key; empty: none is sent
  double connect_seconds = 10;
  double silence_seconds = 300;  // without a byte; reasoning may be silent for long
  double answer_seconds = 3600;  // from the question to the answer's end
  unsigned attempts = 6;
  double first_pause_seconds = 1, longest_pause_seconds = 60;
};

struct Message {
  std::string role, content;
};

struct Question {
  std::string model;
  std::vector<Message> messages;
  std::optional<int64_t> seed;
  std::string options = "{}";  // JSON object: more fields of the body, such as temperature
};

// At most so many requests a minute, over all clients that share it; a server's "wait" holds them
// all.
class RateLimit {
 public:
  explicit RateLimit(double requests_per_minute) : per_minute_(requests_per_minute) {}

  double wait_seconds();  // takes a place, and says how long until it is there
  void hold(double seconds);

 private:
  const double per_minute_;  // 0: no limit
  std::mutex mutex_;
  double free_at_ = 0;  // on a steady clock
};

// One object serves one thread at a time.
class ChatClient {
 public:
  // `limit` and `cancel` may be null, and live as long as the client. Once `cancel` is true,
  // waiting ends.
  static Result<ChatClient> create(Endpoint endpoint, RateLimit* limit,
                                   const std::atomic<bool>* cancel);

  Result<Reply> ask(const Question& question);

 private:
  struct Attempt;
  ChatClient(Endpoint endpoint, std::string path, std::string key, http::Client client,
             RateLimit* limit, const std::atomic<bool>* cancel);
  Attempt attempt(const std::string& body);
  bool wait(double seconds) const;  // false: cancelled
  bool cancelled() const { return cancel_ != nullptr && cancel_->load(); }
  std::string without_key(std::string text) const;

  Endpoint endpoint_;
  std::string path_, key_;
  http::Client client_;
  RateLimit* limit_;
  const std::atomic<bool>* cancel_;
};

// The parts of "https://host:port/v1": a server for http::Client, and the path below it.
Result<std::pair<std::string, std::string>> split_url(const std::string& url);

// Body of the request, JSON.
Result<std::string> request_body(const Question& question);

}  // namespace weft::chat
