// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/crew.h"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/log.h"

namespace weft::service {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kClaimSeconds = 1;     // also how long a stopping server may wait for a thread
constexpr double kRenewSeconds = 0.25;  // a cancelled task ends within this
constexpr double kHireSeconds = 60;
constexpr int kPersistAttempts = 60;

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void pause(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// Without what a killed worker left behind.
Result<Done> make_empty(const std::string& folder) {
  std::error_code failure;
  std::filesystem::remove_all(folder, failure);
  std::filesystem::create_directories(folder, failure);
  if (failure) return Error("cannot make the scratch folder: " + failure.message());
  return Done{};
}

// A message of a worker that is no JSON object is our own bug, but no reason to end the server.
Json parsed(const std::string& line) {
  Result<Json> message = parse_json(line, "worker");
  if (message.ok() && message->is_object()) return std::move(message).value();
  return {{"error", "the device worker answered something that is no message"}};
}

}  // namespace

Crew::Crew(Queue& queue, Metrics& metrics, CrewOptions options)
    : queue_(queue), metrics_(metrics), options_(std::move(options)) {
  std::map<std::string, int> numbers;
  for (const std::string& device : options_.devices) {
    WorkerState state;
    state.device = device;
    state.name = fmt::format("{}-{}-{}", options_.name, device, numbers[device]++);
    states_.push_back(std::move(state));
  }
}

void Crew::start() {
  for (size_t index = 0; index < states_.size(); ++index)
    threads_.emplace_back([this, index] { attend(index); });
}

void Crew::stop() {
  stopping_ = true;
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
  threads_.clear();
  std::error_code ignored;
  std::filesystem::remove_all(options_.scratch, ignored);
}

std::vector<WorkerState> Crew::states() const {
  const std::lock_guard lock(mutex_);
  return states_;
}

std::string Crew::progress(const std::string& task) const {
  const std::lock_guard lock(mutex_);
  const auto found = progress_.find(task);
  return found == progress_.end() ? "" : found->second;
}

void Crew::note(size_t index, const WorkerState& state) {
  const std::lock_guard lock(mutex_);
  WorkerState& kept = states_[index];
  progress_.erase(kept.task);
  kept.healthy = state.healthy;
  kept.process = state.process;
  kept.task = state.task;
  kept.problem = state.problem;
}

void Crew::attend(size_t index) {
  const std::string name = states()[index].name;
  std::optional<WorkerProcess> process;
  while (!stopping_) {
    if (!process) {
      Result<WorkerProcess> hired = hire(index);
      if (!hired.ok()) {
        log(LogLevel::Error, name + ": " + hired.error().message());
        note(index, {.problem = hired.error().message()});
        for (int i = 0; i < 20 && !stopping_; ++i) pause(0.1);
        continue;
      }
      process.emplace(std::move(hired).value());
    }
    note(index, {.healthy = true, .process = process->id()});
    const auto idle_since = unix_seconds();
    Result<std::optional<Claim>> claimed = queue_.claim(name, kClaimSeconds);
    if (!claimed.ok()) {
      log(LogLevel::Error, name + ": " + claimed.error().message());
      pause(1);
      continue;
    }
    if (!*claimed) {
      // A queue that was stopped answers at once, while the server still answers its last clients.
      pause(0.002);
      continue;
    }
    const Claim& claim = **claimed;
    // What the queue itself costs: both the task and a worker were there.
    metrics_.observe("ptxbench_dispatch_seconds",
                     std::max(0.0, unix_seconds() - std::max(claim.created, idle_since)));
    metrics_.observe("ptxbench_queue_wait_seconds", std::max(0.0, unix_seconds() - claim.created));
    note(index, {.healthy = true, .process = process->id(), .task = claim.id});
    if (!judge(index, *process, claim)) {
      process.reset();
      metrics_.count("ptxbench_worker_restarts_total", "");
    }
  }
  note(index, {});
}

Result<WorkerProcess> Crew::hire(size_t index) {
  const WorkerState state = states()[index];
  const std::string scratch = options_.scratch + "/" + state.name;
  TRY(make_empty(scratch));
  std::vector<std::string> command = options_.command;
  command.insert(command.end(), {"--device", state.device, "--scratch", scratch});
  if (!options_.memory_scratch.empty()) {
    const std::string memory = options_.memory_scratch + "/" + state.name;
    TRY(make_empty(memory));
    command.insert(command.end(), {"--memory-scratch", memory});
  }
  WorkerProcess process = TRY(WorkerProcess::start(command, scratch));
  std::string line;
  const auto deadline = Clock::now() + std::chrono::duration<double>(kHireSeconds);
  WorkerProcess::Event event = WorkerProcess::Event::Quiet;
  while (event == WorkerProcess::Event::Quiet && !stopping_ && Clock::now() < deadline)
    event = process.receive(line, kRenewSeconds);
  if (event != WorkerProcess::Event::Line)
    return Error("a device worker did not start: it " + process.end());
  const Json message = parsed(line);
  if (message.contains("error")) return Error(message.value("error", ""));
  return process;
}

template <typename Step>
void Crew::persist(const Step& step) {
  for (int attempt = 0; attempt < kPersistAttempts; ++attempt) {
    const auto done = step();
    if (done.ok()) return;
    log(LogLevel::Error, done.error().message());
    if (stopping_) return;
    pause(0.5);
  }
}

bool Crew::judge(size_t index, WorkerProcess& process, const Claim& claim) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(options_.task_seconds);
  // It died while it had nothing to do: the task is not to blame.
  if (!process.send(claim.request)) {
    log(LogLevel::Warning,
        fmt::format("{}: the idle worker {}", states()[index].name, process.end()));
    persist([&] { return queue_.give_back(claim); });
    return false;
  }
  WorkerProcess::Event event = WorkerProcess::Event::Quiet;
  std::string line;
  auto renewed = Clock::now();
  while (event != WorkerProcess::Event::Gone) {
    event = process.receive(line, kRenewSeconds);
    if (event == WorkerProcess::Event::Line) {
      if (line.starts_with("{\"progress\":")) {
        const std::lock_guard lock(mutex_);
        progress_[claim.id] = parsed(line).value("progress", "");
        continue;
      }
      finish(index, claim, line);
      return true;
    }
    if (event == WorkerProcess::Event::Gone) break;
    if (stopping_) {
      process.end();
      persist([&] { return queue_.give_back(claim); });
      return false;
    }
    if (Clock::now() > deadline) {
      process.end();
      persist([&] {
        return queue_.lose(claim, fmt::format("no verdict in {} s", options_.task_seconds));
      });
      return false;
    }
    if (Clock::now() - renewed < std::chrono::duration<double>(kRenewSeconds)) continue;
    renewed = Clock::now();
    const Result<bool> still = queue_.renew(claim);
    if (still.ok() && !*still) {
      process.end();
      return false;
    }
  }
  const std::string how = process.end();
  log(LogLevel::Warning,
      fmt::format("{}: the worker {} over task {}", states()[index].name, how, claim.id));
  persist([&] { return queue_.lose(claim, states()[index].name + ": the worker " + how); });
  return false;
}

void Crew::finish(size_t index, const Claim& claim, const std::string& line) {
  Json message = parsed(line);
  bool written = false;
  const auto store = [&](const auto& step) {
    persist([&] {
      const Result<bool> done = step();
      written = done.ok() && *done;
      return done;
    });
  };
  if (message.contains("error")) {
    store([&] { return queue_.fail(claim, message.value("error", "")); });
    if (written) metrics_.count("ptxbench_tasks_ended_total", "state=\"failed\"");
    return;
  }
  Json result = std::move(message["result"]);
  result["worker"] = states()[index].name;
  result["judge_seconds"] = message.value("seconds", 0.0);
  result["judge_cpu_seconds"] = message.value("cpu_seconds", 0.0);
  const std::string text = to_line(result);
  store([&] { return queue_.complete(claim, text); });
  // Cancelled meanwhile, or taken for dead: somebody else has the task.
  if (!written) return;
  for (const Json& verdict : result["verdicts"])
    metrics_.count("ptxbench_verdicts_total",
                   fmt::format("status=\"{}\"", verdict.value("status", "")));
  metrics_.count("ptxbench_tasks_ended_total", "state=\"completed\"");
  metrics_.observe("ptxbench_judge_seconds", message.value("seconds", 0.0));
  metrics_.count("ptxbench_judge_cpu_seconds_total", "", message.value("cpu_seconds", 0.0));
}

}  // namespace weft::service
