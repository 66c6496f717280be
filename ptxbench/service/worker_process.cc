// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/worker_process.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/subprocess.h"

namespace weft::service {
namespace {

// Our environment with another folder for temporary files, which the server empties when the worker
// was killed and could not.
std::vector<std::string> environment_with(const std::string& temporary_folder) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::strncmp(*entry, "TMPDIR=", 7) != 0) all.emplace_back(*entry);
  all.push_back("TMPDIR=" + temporary_folder);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::vector<std::string>& arguments,
                                           const std::string& temporary_folder) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Error(std::string("cannot make a socket pair: ") + std::strerror(errno));
  Descriptor ours(ends[0]), theirs(ends[1]);
  std::vector<std::string> words = arguments, variables = environment_with(temporary_folder);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), 0);
  // Our standard output belongs to our own results.
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // A group of its own: an interrupt from the terminal is the server's to handle.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t process = 0;
  const int failure = posix_spawn(&process, words.front().c_str(), &actions, &attributes,
                                  pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0)
    return Error("cannot start a device worker: " + words.front() + ": " + std::strerror(failure));
  return WorkerProcess(process, std::move(ours));
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : process_(std::exchange(other.process_, 0)),
      line_(std::move(other.line_)),
      received_(std::move(other.received_)) {}

WorkerProcess::~WorkerProcess() {
  end();
}

bool WorkerProcess::send(const std::string& line) {
  const std::string whole = line + "\n";
  for (size_t done = 0; done < whole.size();) {
    const ssize_t sent =
        ::send(line_.get(), whole.data() + done, whole.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    done += static_cast<size_t>(sent);
  }
  return true;
}

WorkerProcess::Event WorkerProcess::receive(std::string& line, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds));
  for (;;) {
    if (const size_t end = received_.find('\n'); end != std::string::npos) {
      line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return Event::Line;
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd event{.fd = line_.get(), .events = POLLIN, .revents = 0};
    const int ready = poll(&event, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready == 0 || (ready < 0 && errno == EINTR)) return Event::Quiet;
    char part[1 << 16];
    const ssize_t length = recv(line_.get(), part, sizeof part, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return Event::Gone;
    received_.append(part, static_cast<size_t>(length));
  }
}

std::string WorkerProcess::end() {
  if (process_ == 0) return "ended before";
  kill(process_, SIGKILL);
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  line_.reset();
  ProcessOutcome outcome;
  if (WIFSIGNALED(status)) {
    outcome.ending = Ending::Signalled;
    outcome.signal = WTERMSIG(status);
  } else {
    outcome.exit_code = WEXITSTATUS(status);
  }
  return outcome.describe();
}

}  // namespace weft::service
