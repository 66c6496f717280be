// SPDX-License-Identifier: Apache-2.0

// ptxbench serve: the judge as an HTTP service; and device-worker, the process that it starts for
// each device.
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/ptxbench/bearer_token.h"
#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"
#include "base/log.h"
#include "ptxbench/judge/device.h"
#include "ptxbench/judge/device_state.h"
#include "ptxbench/judge/toolchain.h"
#include "ptxbench/service/service.h"
#include "ptxbench/service/worker_loop.h"

namespace weft::ptxbench {
namespace {

namespace fs = std::filesystem;

struct Options {
  service::ServiceOptions service;
  std::vector<std::string> devices = {"emulated"};
  unsigned workers = 0;
  std::string token_environment, model = "h100";
  double seconds = 300;
};

// What CLI11 says of a wrong device; empty for a right one.
std::string device_problem(const std::string& device) {
  const auto parsed = judge::parse_device(device);
  return parsed.ok() ? "" : format(parsed.error());
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// A stop by signal is a stop by request: what runs goes back to the queue. A handler may do little
// more than write, so it writes to a pipe. Blocking the signals instead would not do: libraries
// start threads before main, and those would still end the process.
int signal_pipe[2] = {-1, -1};

void tell(int) {
  const char letter = 's';
  [[maybe_unused]] const ssize_t ignored = write(signal_pipe[1], &letter, 1);
}

Result<Done> hear_signals() {
  if (pipe2(signal_pipe, O_CLOEXEC) != 0) return Error("cannot make a pipe");
  struct sigaction action {};
  action.sa_handler = tell;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  return Done{};
}

std::thread stop_on_signal(service::Service& served) {
  return std::thread([&served] {
    char letter = 0;
    while (read(signal_pipe[0], &letter, 1) < 0 && errno == EINTR) {
    }
    served.stop();
  });
}

std::vector<std::string> worker_command(const Options& options, size_t workers) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const unsigned threads = std::max<unsigned>(1, cores / static_cast<unsigned>(workers));
  return {fs::read_symlink("/proc/self/exe").string(),
          "device-worker",
          "--problems",
          options.service.problems,
          "--model",
          options.model,
          "--timeout",
          fmt::format("{}", options.seconds),
          "--emulator-workers",
          std::to_string(threads)};
}

Result<Done> complete(Options& options) {
  service::ServiceOptions& service = options.service;
  service.token = TRY(bearer_token(options.token_environment));
  if (service.problems.empty()) service.problems = judge::find_toolchain().problems;
  if (service.problems.empty())
    return Error("the task folder is missing: problems/", "name it with --problems");
  for (const std::string& device : options.devices) {
    const unsigned count = device == "emulated" && options.workers != 0 ? options.workers : 1;
    service.crew.devices.insert(service.crew.devices.end(), count, device);
  }
  service.crew.name = host_name();
  service.crew.command = worker_command(options, service.crew.devices.size());
  return Done{};
}

// A worker whose GPU goes away is started again; one that was never there is not waited for.
Result<Done> find_gpus(const Options& options) {
  for (const std::string& device : options.devices) {
    const std::optional<unsigned> gpu = TRY(judge::parse_device(device));
    if (gpu) TRY(judge::DeviceMonitor::open(*gpu));
  }
  return Done{};
}

int serve(Options& options) {
  log_to_standard_error(LogLevel::Info);
  const Result<Done> completed = complete(options);
  if (!completed.ok()) return fail(completed.error(), kUsage);
  const Result<Done> found = find_gpus(options);
  if (!found.ok()) return fail(found.error(), kEnvironment);
  // Hundreds of connections would otherwise leave an arena each behind.
  mallopt(M_ARENA_MAX, 2);
  const Result<Done> hearing = hear_signals();
  if (!hearing.ok()) return fail(hearing.error(), kEnvironment);
  auto created = service::Service::create(options.service);
  if (!created.ok()) return fail(created.error(), kEnvironment);
  service::Service& served = **created;
  const std::string& host = options.service.host;
  print(fmt::format("ptxbench serves on http://{}:{} with {} workers\n", host, served.port(),
                    options.service.crew.devices.size()));
  std::fflush(stdout);
  if (options.service.token.empty() && host != "127.0.0.1" && host != "localhost" && host != "::1")
    log(LogLevel::Warning, "everybody who reaches " + host + " may have kernels run: --token-env");
  std::thread watcher = stop_on_signal(served);
  served.serve();
  // Ends the watcher when the stop came by another way.
  tell(0);
  watcher.join();
  return kPassed;
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  service::ServiceOptions& service = options->service;
  service.store = "ptxbench-store";
  CLI::App* verb = app.add_subcommand("serve", "Judges over HTTP, with a durable queue");
  verb->footer(
      "docs/serving_the_judge.md describes the routes.\n"
      "Examples:\n"
      "  ptxbench serve --workers 2\n"
      "  ptxbench serve --device cuda:0 --device cuda:1\n"
      "  ptxbench serve --host 0.0.0.0 --token-env PTXBENCH_TOKEN --redis redis://queue:6379");
  verb->add_option("--host", service.host, "Address to listen on (default: this machine only)");
  verb->add_option("--port", service.port, "Port; 0 takes a free one")->check(CLI::Range(0, 65535));
  verb->add_option("--device", options->devices,
                   "Devices, one worker process each: emulated, cuda:0, ...")
      ->check(device_problem);
  verb->add_option("--workers", options->workers, "Worker processes of the emulated device")
      ->check(CLI::Range(1, 256));
  verb->add_option("--model", options->model, "Device to emulate")
      ->check(CLI::IsMember({"h100", "h200"}));
  verb->add_option("--store", service.store, "Folder of the queue and its results");
  verb->add_option("--redis", service.redis,
                   "Keep the queue in this Redis, which several servers share");
  verb->add_flag("--wait-for-disk", service.wait_for_disk,
                 "Write through to the disk at every step: safe against a power cut too");
  verb->add_option("--queue-limit", service.limits.pending, "Tasks that may wait")
      ->check(CLI::PositiveNumber);
  verb->add_option("--attempts", service.limits.deaths,
                   "Workers that may die over one task before it fails")
      ->check(CLI::PositiveNumber);
  verb->add_option("--timeout", options->seconds,
                   "Seconds that a candidate may run when the request names no time")
      ->check(CLI::PositiveNumber);
  verb->add_option("--task-timeout", service.crew.task_seconds,
                   "Seconds after which a worker with one task is taken for stuck")
      ->check(CLI::PositiveNumber);
  verb->add_option("--token-env", options->token_environment,
                   "Environment variable with the bearer token that clients must send");
  verb->add_option("--problems", service.problems, "Task folder (default: the project's)");
  verb->callback([options, &exit_code] { exit_code = serve(*options); });
}

void add_device_worker(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<service::EvaluatorOptions>();
  CLI::App* verb = app.add_subcommand("device-worker", "Started by serve");
  verb->group("");  // not shown: nobody types it
  verb->add_option("--device", options->device);
  verb->add_option("--scratch", options->scratch);
  verb->add_option("--memory-scratch", options->memory_scratch);
  verb->add_option("--problems", options->problems);
  verb->add_option("--model", options->model);
  verb->add_option("--timeout", options->seconds);
  verb->add_option("--emulator-workers", options->emulator_workers);
  verb->callback([options, &exit_code] {
    log_to_standard_error(LogLevel::Warning);
    exit_code = service::work(*options);
  });
}

}  // namespace weft::ptxbench
