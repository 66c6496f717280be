// SPDX-License-Identifier: Apache-2.0

// The durable queue: a task is in exactly one state, a result is written once, and whoever dies in
// between loses nothing. Two stores keep it: SQLite on one machine, Redis Streams for several.
//
// States: pending -> running -> completed | failed | cancelled, and running -> pending when the
// worker was lost. Every call is one atomic step of the store. All are safe from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/service/task.h"

namespace weft::service {

struct QueueLimits {
  uint64_t pending = 10000;  // tasks that wait; more are refused
  unsigned deaths = 3;       // of workers over one task, then it fails
};

enum class Accepted : uint8_t {
  Fresh,  // a task that was not there
  Known,  // the same question was asked before
  Full,   // not accepted
};

struct QueueCounts {
  uint64_t pending = 0, running = 0, completed = 0, failed = 0, cancelled = 0;
};

class Queue {
 public:
  virtual ~Queue() = default;

  // A cancelled task that is handed in again becomes pending again.
  virtual Result<Accepted> submit(const Submission& submission) = 0;

  // The oldest pending task, which is running from then on. Waits up to `seconds` for one.
  virtual Result<std::optional<Claim>> claim(const std::string& worker, double seconds) = 0;
  // Says that the worker lives. False: the claim was lost (cancelled, or taken for dead).
  virtual Result<bool> renew(const Claim& claim) = 0;
  // Both end a task. False: the claim was lost, and nothing was written.
  virtual Result<bool> complete(const Claim& claim, const std::string& result) = 0;
  virtual Result<bool> fail(const Claim& claim, const std::string& error) = 0;
  // The worker died over the task, which is pending again, at its old place; or failed, when it
  // killed one worker too many. `how` goes into the history.
  virtual Result<Done> lose(const Claim& claim, const std::string& how) = 0;
  // The task is pending again through no fault of its own.
  virtual Result<Done> give_back(const Claim& claim) = 0;

  // The state afterwards; nothing when there is no such task. An ended task stays as it is.
  virtual Result<std::optional<State>> cancel(const std::string& id) = 0;
  virtual Result<std::optional<TaskRecord>> find(const std::string& id) = 0;
  // What was handed in.
  virtual Result<std::optional<std::string>> request(const std::string& id) = 0;
  // Until all tasks have ended, or `seconds` are over.
  virtual Result<Done> wait(const std::vector<std::string>& ids, double seconds) = 0;
  virtual Result<QueueCounts> counts() = 0;

  // Ends all waiting, now and later.
  virtual void stop() = 0;
};

// The folder is made if it is missing. Only one server may have it open.
struct SqliteOptions {
  std::string folder;
  // Wait for the disk at every step: then also a power cut loses nothing that was answered.
  // Without it a killed server loses nothing, a power cut perhaps the last second.
  bool wait_for_disk = false;
  QueueLimits limits;
};
Result<std::unique_ptr<Queue>> open_sqlite_queue(const SqliteOptions& options);

struct RedisOptions {
  std::string url;              // redis://host:port/database, or unix:/path
  std::string prefix = "weft";  // of all keys; servers with the same one share a queue
  double lease_seconds = 15;    // a claim that nobody renewed for so long is taken for dead
  QueueLimits limits;
};
Result<std::unique_ptr<Queue>> open_redis_queue(const RedisOptions& options);

}  // namespace weft::service
