// SPDX-License-Identifier: Apache-2.0

// Host threads for connections: one each, made when needed and gone when idle. A client that waits
// for a verdict holds its thread, so a fixed small pool would let waiting clients lock out others.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

namespace weft::http {

class ConnectionPool {
 public:
  explicit ConnectionPool(size_t most) : most_(most) {}
  ~ConnectionPool() { stop(); }
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  // Work beyond `most` threads waits for one of them.
  void add(std::function<void()> work);
  // Returns when all work that was added is done.
  void stop();

 private:
  void serve();

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable arrived_, left_;
  std::deque<std::function<void()>> waiting_;
  size_t threads_ = 0, idle_ = 0;
  bool stopping_ = false;
};

}  // namespace weft::http
