// SPDX-License-Identifier: Apache-2.0

// How fast the service judges a small product that needs no build, what queueing costs, and whether
// a load with device workers killed at random loses anything. Every verdict is looked at; a wrong
// one ends the program with 1.
//
//   bench_service_load [submissions] [clients] [workers] [seconds between kills; 0: none]
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/http/client.h"
#include "base/temporary_directory.h"
#include "tests/service/server_process.h"

namespace weft::service_test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

http::Client client_of(const ServerProcess& server) {
  return http::Client::create(server.url(), {.answer_seconds = 900}).value();
}

// Each seed is a question of its own.
std::string question(uint64_t seed) {
  static const std::string source = read_candidate("tests/judge/candidates/product.ptx");
  Json body = {{"solution", ptx_solution(source)}};
  body["workload_uuids"] = {"e6cee3df-8f00-5a3c-b374-4f2dd0d38ba7"};
  body["axes"] = {{"M", 16}, {"N", 32}, {"K", 64}};
  body["input_seed"] = seed;
  return to_line(body);
}

struct Judged {
  std::string id, evaluation;
  double total = 0, judge = 0, cpu = 0;  // seconds
  unsigned attempts = 0;
};

// Hands one in, and again while the queue is full, and waits for its verdict.
Judged judged(http::Client& client, uint64_t seed) {
  const auto start = Clock::now();
  Judged result;
  for (;;) {
    const auto accepted = client.post("/evaluate", question(seed));
    if (accepted.ok() && accepted->status == 200) {
      result.id = parse_json(accepted->body).value().value("task_id", "");
      break;
    }
    if (!accepted.ok() || accepted->status != 429) {
      std::fprintf(stderr, "not accepted: %s\n",
                   accepted.ok() ? accepted->body.c_str() : accepted.error().message().c_str());
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  const auto answer = client.get("/tasks/" + result.id + "?timeout=600");
  result.total = seconds_since(start);
  const Json task = answer.ok() ? parse_json(answer->body).value() : Json::object();
  if (task.value("status", "") != "completed" || task["verdicts"].size() != 1 ||
      task["verdicts"][0].value("status", "") != "PASSED") {
    std::fprintf(stderr, "task %s: not passed: %s\n", result.id.c_str(), task.dump().c_str());
    std::exit(1);
  }
  result.evaluation = task["verdicts"][0].value("evaluation_id", "");
  result.judge = task.value("judge_seconds", 0.0);
  result.cpu = task.value("judge_cpu_seconds", 0.0);
  result.attempts = task.value("attempts", 0u);
  return result;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<size_t>(share * static_cast<double>(values.size())))];
}

// All seeds first ... first + count - 1, from several clients.
std::vector<Judged> all_judged(const ServerProcess& server, uint64_t first, size_t count,
                               size_t clients) {
  std::vector<Judged> results(count);
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < clients; ++i) {
    threads.emplace_back([&] {
      http::Client client = client_of(server);
      for (size_t index = next++; index < count; index = next++)
        results[index] = judged(client, first + index);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

// Kills a device worker, busy or not, at random times until told to stop.
class Killer {
 public:
  Killer(const ServerProcess& server, double seconds)
      : thread_([this, &server, seconds] {
          std::mt19937 random(12345);
          std::uniform_real_distribution<double> pause(0.5 * seconds, 1.5 * seconds);
          http::Client client = client_of(server);
          while (!done_) {
            const auto wake = Clock::now() + std::chrono::duration<double>(pause(random));
            while (!done_ && Clock::now() < wake)
              std::this_thread::sleep_for(std::chrono::milliseconds(10));
            const auto health = client.get("/health");
            if (!health.ok()) continue;
            const Json workers = parse_json(health->body).value()["workers"];
            const Json& worker = workers[random() % workers.size()];
            const auto process = worker["process"].get<pid_t>();
            if (process > 0 && kill(process, SIGKILL) == 0)
              ++(worker["task"].is_null() ? idle : busy);
          }
        }) {}
  ~Killer() {
    done_ = true;
    thread_.join();
  }
  Killer(const Killer&) = delete;
  Killer& operator=(const Killer&) = delete;

  unsigned busy = 0, idle = 0;  // killed

 private:
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

std::vector<double> each(const std::vector<Judged>& results, double (*value)(const Judged&)) {
  std::vector<double> values;
  for (const Judged& result : results) values.push_back(value(result));
  return values;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

int measure(size_t submissions, size_t clients, const std::string& workers, double kill_seconds) {
  const TemporaryDirectory folder = TemporaryDirectory::create("service_load").value();
  Result<ServerProcess> started =
      ServerProcess::start(folder.file("store"), {"--workers", workers, "--attempts", "20"});
  if (!started.ok()) {
    std::fprintf(stderr, "%s\n", started.error().message().c_str());
    return 3;
  }
  const ServerProcess& server = *started;
  uint64_t seed = 1;
  all_judged(server, seed, 100, clients);  // warms up server and workers
  seed += 100;

  constexpr size_t kAlone = 300;
  const std::vector<Judged> alone = all_judged(server, seed, kAlone, 1);
  seed += kAlone;
  const std::vector<double> overhead =
      each(alone, [](const Judged& j) { return 1e3 * (j.total - j.judge); });
  std::printf("queueing overhead, one client: p50 %.2f ms, p99 %.2f ms, most %.2f ms (%zu tasks)\n",
              quantile(overhead, 0.5), quantile(overhead, 0.99), quantile(overhead, 1), kAlone);

  constexpr size_t kRate = 400;
  auto start = Clock::now();
  const std::vector<Judged> rate = all_judged(server, seed, kRate, 8);
  seed += kRate;
  std::printf(
      "rate: %.1f evaluations/s with %s workers, %.1f ms of CPU an evaluation, %.1f ms of time\n",
      static_cast<double>(kRate) / seconds_since(start), workers.c_str(),
      1e3 * mean(each(rate, [](const Judged& j) { return j.cpu; })),
      1e3 * mean(each(rate, [](const Judged& j) { return j.judge; })));

  const double before = static_cast<double>(server.resident_bytes()) / (1 << 20);
  start = Clock::now();
  std::vector<Judged> load;
  unsigned busy = 0, idle = 0;
  {
    std::unique_ptr<Killer> killer;
    if (kill_seconds > 0) killer = std::make_unique<Killer>(server, kill_seconds);
    load = all_judged(server, seed, submissions, clients);
    if (killer) busy = killer->busy, idle = killer->idle;
  }
  const double took = seconds_since(start);
  // Once more: what was judged stays judged.
  http::Client client = client_of(server);
  std::set<std::string> evaluations;
  unsigned repeated = 0, changed = 0;
  for (const Judged& result : load) {
    evaluations.insert(result.evaluation);
    repeated += result.attempts > 1 ? 1 : 0;
    const Json again = parse_json(client.get("/tasks/" + result.id)->body).value();
    changed += again["verdicts"][0].value("evaluation_id", "") != result.evaluation ? 1 : 0;
  }
  const std::string numbers = client.get("/metrics")->body;
  const std::string line = "ptxbench_tasks_ended_total{state=\"completed\"} ";
  const unsigned long written =
      std::strtoul(numbers.c_str() + numbers.find(line) + line.size(), nullptr, 10);
  const unsigned long expected = 100 + kAlone + kRate + submissions;
  const double after = static_cast<double>(server.resident_bytes()) / (1 << 20);
  std::printf(
      "load: %zu submissions from %zu clients in %.1f s (%.1f/s), %u busy and %u idle workers "
      "killed\n"
      "  verdicts: %zu different ones, %lu results written, %lu expected; %u tasks needed another "
      "attempt, %u changed afterwards\n"
      "  server memory: %.1f MiB before, %.1f MiB after\n",
      submissions, clients, took, static_cast<double>(submissions) / took, busy, idle,
      evaluations.size(), written, expected, repeated, changed, before, after);
  return evaluations.size() == submissions && written == expected && changed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace weft::service_test

int main(int count, char** arguments) {
  const auto number = [&](int index, double otherwise) {
    return index < count ? std::strtod(arguments[index], nullptr) : otherwise;
  };
  return weft::service_test::measure(static_cast<size_t>(number(1, 2000)),
                                     static_cast<size_t>(number(2, 32)),
                                     std::to_string(static_cast<int>(number(3, 2))), number(4, 1));
}
