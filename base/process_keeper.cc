// SPDX-License-Identifier: Apache-2.0

#include "base/process_keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace weft {
namespace {

// Descriptors that the keeper uses itself; all above are closed.
constexpr int kStatus = 3;
constexpr int kStarted = 4;
constexpr int kControl = 5;
constexpr int kFirstUnused = 6;

void close_from(int first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  for (rlim_t fd = static_cast<rlim_t>(first); fd < limit.rlim_cur && fd < 65536; ++fd)
    close(static_cast<int>(fd));
}

void report(const KeeperReport& text) {
  // Shorter than PIPE_BUF, so one write is all or nothing.
  [[maybe_unused]] const ssize_t written = write(kStatus, &text, sizeof text);
}

[[noreturn]] void fail_start(StartStep step) {
  report({.kind = KeeperReport::Kind::StartFailed, .system_error = errno, .step = step});
  _exit(127);
}

void set_limit(int resource, uint64_t value) {
  if (value == 0) return;
  const rlimit limit{.rlim_cur = value, .rlim_max = value};
  if (setrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0)
    fail_start(StartStep::SetLimit);
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The kernel should pick the program, not the judge, when memory runs out.
void volunteer_for_out_of_memory() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, "1000", 4);
  close(file);
}

[[noreturn]] void become_program(const KeeperOrders& orders, const int standard[3]) {
  if (orders.streams == Streams::Captured) {
    setsid();
    for (int i = 0; i < 3; ++i) dup2(standard[i], i);
  }
  for (int fd : {kStatus, kStarted}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  close_from(kControl);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  volunteer_for_out_of_memory();
  if (orders.working_directory != nullptr && chdir(orders.working_directory) != 0)
    fail_start(StartStep::EnterDirectory);
  set_limit(RLIMIT_AS, orders.limits.address_space_bytes);
  set_limit(RLIMIT_CPU, orders.limits.cpu_seconds);
  set_limit(RLIMIT_FSIZE, orders.limits.file_bytes);
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  reset_signals();
  execve(orders.program, orders.arguments, orders.environment);
  fail_start(StartStep::Execute);
}

// Kills every direct child, the adopted ones included. Their own children come to us next.
void kill_children() {
  const int file = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  char text[4096];
  pid_t pid = 0;
  for (ssize_t length; (length = read(file, text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < length; ++i) {
      if (text[i] >= '0' && text[i] <= '9') {
        pid = pid * 10 + (text[i] - '0');
      } else if (pid > 0) {
        kill(pid, SIGKILL);
        pid = 0;
      }
    }
  }
  close(file);
}

struct Program {
  pid_t pid = 0;
  bool running = true;
  int wait_status = 0;
};

// Collects the ended children; false once there is none left, ended or not.
bool reap(Program& program, int flags) {
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, flags);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) return false;
    if (pid == 0) return true;
    if (pid == program.pid) {
      program.running = false;
      program.wait_status = status;
    }
    if ((flags & WNOHANG) == 0) return true;
  }
}

// Rounds of "kill all, wait a little": a process that forks while it is killed is caught next
// round.
void end_everything(Program& program, Streams streams) {
  for (;;) {
    if (program.running && streams == Streams::Captured) kill(-program.pid, SIGKILL);
    kill_children();
    if (!reap(program, WNOHANG)) return;
    poll(nullptr, 0, 1);
  }
}

uint64_t own_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

uint64_t microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
}

}  // namespace

pid_t fork_plainly() {
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

void keep_process(const KeeperOrders& orders) {
  // The inherited mode stays in our session, where a Ctrl-C reaches everybody: the program may end
  // by it, the keeper has to stay until the program is gone.
  if (orders.streams == Streams::Captured) setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_CHILD_SUBREAPER, 1);

  // Out of the way of the numbers they are about to take.
  int kept[6] = {orders.status, orders.started, orders.control,
                 orders.input,  orders.output,  orders.errors};
  for (int& fd : kept)
    if (fd >= 0) fd = fcntl(fd, F_DUPFD, 16);
  dup2(kept[0], kStatus);
  dup2(kept[1], kStarted);
  dup2(kept[2], kControl);
  if (orders.streams == Streams::Captured) {
    for (int i = 0; i < 3; ++i) dup2(kept[3 + i], kFirstUnused + i);
    close_from(kFirstUnused + 3);
  } else {
    close_from(kFirstUnused);
  }

  const int standard[3] = {kFirstUnused, kFirstUnused + 1, kFirstUnused + 2};
  Program program{.pid = fork_plainly()};
  if (program.pid < 0) fail_start(StartStep::Fork);
  if (program.pid == 0) become_program(orders, standard);
  // The program's ends must be its own, or the parent would never see them close.
  close(kStarted);
  close_from(kFirstUnused);
  if (orders.streams == Streams::Captured)
    for (int fd : {0, 1, 2}) close(fd);

  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  const int deaths = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  pollfd events[2] = {{.fd = deaths, .events = POLLIN, .revents = 0},
                      {.fd = kControl, .events = POLLIN, .revents = 0}};
  while (program.running) {
    // A signal that came before signalfd was there is seen by the first reap.
    reap(program, WNOHANG);
    if (!program.running) break;
    poll(events, 2, 1000);
    signalfd_siginfo ignored;
    while (read(deaths, &ignored, sizeof ignored) > 0) {
    }
    if (events[1].revents != 0) break;
  }
  end_everything(program, orders.streams);

  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  report({.kind = KeeperReport::Kind::Ended,
          .wait_status = program.wait_status,
          .cpu_microseconds = microseconds(usage.ru_utime) + microseconds(usage.ru_stime),
          .largest_resident_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024,
          .resident_bytes_at_fork = own_resident_bytes()});
  _exit(0);
}

}  // namespace weft
