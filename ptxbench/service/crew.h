// SPDX-License-Identifier: Apache-2.0

// The device workers of one server: a thread and a process each. The thread claims a task, has its
// process judge it and writes the result; a process that dies gives its task back and is replaced.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ptxbench/service/metrics.h"
#include "ptxbench/service/queue.h"
#include "ptxbench/service/worker_process.h"

namespace weft::service {

struct CrewOptions {
  std::vector<std::string> devices;  // one worker each; the same may stand there several times
  std::vector<std::string> command;  // of a worker; its device and scratch folders are added
  std::string scratch;               // a folder below which each worker has one of its own
  std::string memory_scratch;        // the same for small files, in memory; may be empty
  std::string name;                  // of this server, first part of its workers' names
  double task_seconds = 7200;        // of one task in a worker's hands, then the worker is stuck
};

struct WorkerState {
  std::string name, device;
  bool healthy = false;
  int64_t process = 0;  // 0: none
  std::string task;     // what it judges; empty when idle
  std::string problem;  // why it is not healthy
};

class Crew {
 public:
  Crew(Queue& queue, Metrics& metrics, CrewOptions options);
  ~Crew() { stop(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void start();
  // Running tasks are given back. Returns when all workers are gone.
  void stop();

  std::vector<WorkerState> states() const;
  // "workload 1 of 2: build" while this server judges the task, else empty.
  std::string progress(const std::string& task) const;

 private:
  void attend(size_t index);
  Result<WorkerProcess> hire(size_t index);
  // False: the process is gone or was ended.
  bool judge(size_t index, WorkerProcess& process, const Claim& claim);
  void finish(size_t index, const Claim& claim, const std::string& line);
  // Writes through a store that may be away for a while.
  template <typename Step>
  void persist(const Step& step);
  void note(size_t index, const WorkerState& state);

  Queue& queue_;
  Metrics& metrics_;
  const CrewOptions options_;
  mutable std::mutex mutex_;
  std::vector<WorkerState> states_;
  std::map<std::string, std::string> progress_;  // by task
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace weft::service
