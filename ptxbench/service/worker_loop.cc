// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/worker_loop.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>

#include <nlohmann/json.hpp>

namespace weft::service {
namespace {

constexpr int kServer = 0;
constexpr int kEnvironment = 3;

bool say(const Json& message) {
  const std::string line = to_line(message) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t sent = send(kServer, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    done += static_cast<size_t>(sent);
  }
  return true;
}

double cpu_seconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage use{};
    getrusage(who, &use);
    for (const timeval& time : {use.ru_utime, use.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return seconds;
}

// A judgement may take minutes; when the server is gone nobody wants it any more.
void end_with_the_server() {
  std::thread([] {
    pollfd event{.fd = kServer, .events = POLLRDHUP, .revents = 0};
    while (poll(&event, 1, -1) < 0 && errno == EINTR) {
    }
    _exit(0);
  }).detach();
}

Json answer(const Evaluator& evaluator, const std::string& line) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  const Result<JudgeRequest> request = read_submission(line);
  if (!request.ok()) return {{"error", request.error().message()}};
  const Result<Json> result = evaluator.evaluate(*request, [](std::string_view progress) {
    say({{"progress", progress}});
  });
  if (!result.ok()) return {{"error", format(result.error())}};
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {{"result", *result}, {"seconds", seconds.count()}, {"cpu_seconds", cpu_seconds() - cpu}};
}

}  // namespace

int work(EvaluatorOptions options) {
  end_with_the_server();
  const Result<Evaluator> evaluator = Evaluator::create(std::move(options));
  if (!evaluator.ok()) {
    say({{"error", format(evaluator.error())}});
    return kEnvironment;
  }
  if (!say({{"ready", true}})) return 0;
  std::string received;
  char part[1 << 16];
  for (;;) {
    const ssize_t length = recv(kServer, part, sizeof part, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return 0;
    received.append(part, static_cast<size_t>(length));
    for (size_t end; (end = received.find('\n')) != std::string::npos;) {
      const std::string line = received.substr(0, end);
      received.erase(0, end + 1);
      if (!say(answer(*evaluator, line))) return 0;
    }
  }
}

}  // namespace weft::service
