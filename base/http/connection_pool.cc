// SPDX-License-Identifier: Apache-2.0

#include "base/http/connection_pool.h"

#include <chrono>
#include <thread>
#include <utility>

namespace weft::http {
namespace {
constexpr std::chrono::seconds kIdle{10};
}

void ConnectionPool::add(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(work));
  if (idle_ >= waiting_.size() || threads_ == most_) {
    arrived_.notify_one();
    return;
  }
  ++threads_;
  std::thread([this] { serve(); }).detach();
}

void ConnectionPool::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    const bool work =
        arrived_.wait_for(lock, kIdle, [&] { return stopping_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty() && (stopping_ || !work)) break;
    const std::function<void()> next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next();
    lock.lock();
  }
  --threads_;
  // Under the lock: when stop() sees the count, this thread touches the pool no more.
  left_.notify_all();
}

void ConnectionPool::stop() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  arrived_.notify_all();
  left_.wait(lock, [&] { return threads_ == 0; });
}

}  // namespace weft::http
