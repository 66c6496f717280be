// SPDX-License-Identifier: Apache-2.0

#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/descriptor.h"
#include "base/folder_size.h"
#include "base/process_keeper.h"
#include "base/process_tree.h"

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

// How often memory and the number of processes are looked at.
constexpr std::chrono::milliseconds kSampleInterval{20};

// What the keeper itself may touch after the fork.
constexpr uint64_t kOwnGrowth = 1 << 20;

struct Pipe {
  Descriptor read_end, write_end;
};

Result<Pipe> create_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return Error(std::string("cannot create a pipe: ") + std::strerror(errno));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// The strings and the pointer lists that execve wants.
struct Texts {
  std::vector<std::string> strings;
  std::vector<char*> pointers;

  explicit Texts(std::vector<std::string> all) : strings(std::move(all)) {
    for (std::string& text : strings) pointers.push_back(text.data());
    pointers.push_back(nullptr);
  }
};

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> all;
  if (command.environment) {
    all = *command.environment;
  } else {
    for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  }
  for (const auto& [name, value] : command.extra_environment) {
    const std::string start = name + "=";
    std::erase_if(all, [&](const std::string& entry) { return entry.starts_with(start); });
    all.push_back(start + value);
  }
  return all;
}

// A broken pipe must give an error from write, not a signal that ends us. Only this worker's mask
// is touched, and a signal that we caused is taken back before the mask is restored.
class BrokenPipeGuard {
 public:
  BrokenPipeGuard() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~BrokenPipeGuard() {
    const timespec now{};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &now) > 0) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BrokenPipeGuard(const BrokenPipeGuard&) = delete;
  BrokenPipeGuard& operator=(const BrokenPipeGuard&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

// One stream of the program, read until its end.
class Collector {
 public:
  Collector(Descriptor source, uint64_t kept, std::string& text, uint64_t& total)
      : source_(std::move(source)), kept_(kept), text_(text), total_(total) {
    if (source_.open()) fcntl(source_.get(), F_SETFL, O_NONBLOCK);
  }

  int fd() const { return source_.get(); }

  // Takes what is there; closes the source at its end.
  void drain() {
    char part[1 << 16];
    while (source_.open()) {
      const ssize_t length = read(source_.get(), part, sizeof part);
      if (length < 0 && errno == EINTR) continue;
      if (length < 0 && errno == EAGAIN) return;
      if (length <= 0) {
        source_.reset();
        return;
      }
      total_ += static_cast<uint64_t>(length);
      const uint64_t room = kept_ - std::min<uint64_t>(kept_, text_.size());
      text_.append(part, std::min(room, static_cast<uint64_t>(length)));
      // A flood must not keep us from looking at the clock.
      if (++rounds_ % 16 == 0) return;
    }
  }

 private:
  Descriptor source_;
  uint64_t kept_;
  std::string& text_;
  uint64_t& total_;
  uint32_t rounds_ = 0;
};

class Feeder {
 public:
  Feeder(Descriptor sink, const std::string& text) : sink_(std::move(sink)), text_(text) {
    if (sink_.open()) fcntl(sink_.get(), F_SETFL, O_NONBLOCK);
    if (text_.empty()) sink_.reset();
  }

  int fd() const { return sink_.get(); }

  // Writes what fits; closes the sink after the last byte or when nobody reads.
  void feed() {
    while (sink_.open() && done_ < text_.size()) {
      const ssize_t length = write(sink_.get(), text_.data() + done_, text_.size() - done_);
      if (length < 0 && errno == EINTR) continue;
      if (length < 0 && errno == EAGAIN) return;
      if (length < 0) break;
      done_ += static_cast<size_t>(length);
    }
    sink_.reset();
  }

 private:
  Descriptor sink_;
  const std::string& text_;
  size_t done_ = 0;
};

struct Reports {
  std::optional<KeeperReport> start_failed, ended;
};

// True until the keeper is gone.
bool receive(int status, Reports& reports) {
  KeeperReport report;
  const ssize_t length = read(status, &report, sizeof report);
  if (length < 0) return errno == EINTR || errno == EAGAIN;
  if (length != sizeof report) return false;
  (report.kind == KeeperReport::Kind::Ended ? reports.ended : reports.start_failed) = report;
  return true;
}

std::optional<Ending> limit_passed(const Command& command, const TreeUse& use) {
  const ProcessLimits& limits = command.limits;
  if (limits.resident_bytes != 0 && use.resident_bytes > limits.resident_bytes)
    return Ending::TooMuchMemory;
  if (limits.processes != 0 && use.processes > limits.processes) return Ending::TooManyProcesses;
  if (limits.folder_bytes != 0 &&
      bytes_in(command.limited_folder, limits.folder_bytes) > limits.folder_bytes)
    return Ending::TooMuchWritten;
  return std::nullopt;
}

struct Watch {
  pid_t keeper = 0;
  Descriptor control, status, started;
};

// Moves bytes and looks at the limits until the keeper says that all is over. Returns the limit
// that was passed, if any.
std::optional<Ending> attend(Watch& watch, const Command& command, Feeder& input, Collector& output,
                             Collector& errors, Reports& reports, uint64_t& sampled_peak) {
  const ProcessLimits& limits = command.limits;
  auto start = Clock::now();
  auto next_sample = start;
  std::optional<Ending> ending;
  for (;;) {
    const auto now = Clock::now();
    // Until the program is executed, its memory is a copy of ours.
    if (!ending && !watch.started.open() && now >= next_sample) {
      const TreeUse use = use_below(watch.keeper);
      sampled_peak = std::max(sampled_peak, use.largest_resident_bytes);
      ending = limit_passed(command, use);
      next_sample = now + kSampleInterval;
    }
    if (!ending && limits.seconds > 0 &&
        std::chrono::duration<double>(now - start).count() >= limits.seconds)
      ending = Ending::TimedOut;
    if (!ending && command.cancel != nullptr && command.cancel->load()) ending = Ending::Cancelled;
    if (ending) watch.control.reset();

    // poll leaves out negative descriptors.
    pollfd events[5] = {{.fd = watch.status.get(), .events = POLLIN, .revents = 0},
                        {.fd = input.fd(), .events = POLLOUT, .revents = 0},
                        {.fd = output.fd(), .events = POLLIN, .revents = 0},
                        {.fd = errors.fd(), .events = POLLIN, .revents = 0},
                        {.fd = watch.started.get(), .events = POLLIN, .revents = 0}};
    poll(events, 5, static_cast<int>(kSampleInterval.count()));
    if (events[1].revents != 0) input.feed();
    if (events[2].revents != 0) output.drain();
    if (events[3].revents != 0) errors.drain();
    if (events[4].revents != 0) {
      // A busy machine may take long to get here; that is not the program's time.
      watch.started.reset();
      start = Clock::now();
    }
    if (events[0].revents != 0 && !receive(watch.status.get(), reports)) return ending;
  }
}

Result<Done> check(const Command& command, std::string& program) {
  if (command.arguments.empty()) return Error("a command needs a program");
  program = find_program(command.arguments.front());
  if (program.empty())
    return Error("program not found: " + command.arguments.front(),
                 "give its path, or put its folder on PATH");
  return Done{};
}

const char* describe(StartStep step) {
  switch (step) {
    case StartStep::Fork:
      return "fork";
    case StartStep::EnterDirectory:
      return "enter the working directory";
    case StartStep::SetLimit:
      return "set a limit";
    case StartStep::Execute:
      return "execute";
  }
  return "";
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

}  // namespace

std::string find_program(const std::string& program) {
  const auto executable = [](const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           access(path.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string::npos) return executable(program) ? program : "";
  const char* path = std::getenv("PATH");
  std::string folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (size_t start = 0; start <= folders.size() && !program.empty();) {
    const size_t end = std::min(folders.find(':', start), folders.size());
    std::string candidate = folders.substr(start, end - start);
    candidate += candidate.empty() ? "./" + program : "/" + program;
    if (executable(candidate)) return candidate;
    start = end + 1;
  }
  return "";
}

Result<ProcessOutcome> run(const Command& command) {
  std::string program;
  TRY(check(command, program));
  program = std::filesystem::absolute(program).string();

  Texts arguments(command.arguments);
  Texts environment(environment_of(command));
  Pipe control = TRY(create_pipe()), status = TRY(create_pipe());
  Pipe started = TRY(create_pipe());
  Pipe in, out, err;
  const bool captured = command.streams == Streams::Captured;
  if (captured) {
    in = TRY(create_pipe());
    out = TRY(create_pipe());
    err = TRY(create_pipe());
  }
  const KeeperOrders orders{.program = program.c_str(),
                            .arguments = arguments.pointers.data(),
                            .environment = environment.pointers.data(),
                            .working_directory = command.working_directory.empty()
                                                     ? nullptr
                                                     : command.working_directory.c_str(),
                            .limits = command.limits,
                            .streams = command.streams,
                            .input = in.read_end.get(),
                            .output = out.write_end.get(),
                            .errors = err.write_end.get(),
                            .control = control.read_end.get(),
                            .status = status.write_end.get(),
                            .started = started.write_end.get()};

  const auto start = Clock::now();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t keeper = fork_plainly();
  if (keeper == 0) keep_process(orders);
  const int fork_error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (keeper < 0) return Error(std::string("cannot start a process: ") + std::strerror(fork_error));

  in.read_end.reset();
  out.write_end.reset();
  err.write_end.reset();
  control.read_end.reset();
  status.write_end.reset();
  started.write_end.reset();

  ProcessOutcome outcome;
  Reports reports;
  uint64_t sampled_peak = 0;
  std::optional<Ending> ending;
  {
    const BrokenPipeGuard guard;
    Feeder input(std::move(in.write_end), command.input);
    Collector output(std::move(out.read_end), command.kept_output_bytes, outcome.output,
                     outcome.output_bytes);
    Collector errors(std::move(err.read_end), command.kept_output_bytes, outcome.errors,
                     outcome.errors_bytes);
    Watch watch{keeper, std::move(control.write_end), std::move(status.read_end),
                std::move(started.read_end)};
    ending = attend(watch, command, input, output, errors, reports, sampled_peak);
    // All writers are gone; what they left in the pipes is at most their capacity.
    for (int i = 0; i < 64 && output.fd() >= 0; ++i) output.drain();
    for (int i = 0; i < 64 && errors.fd() >= 0; ++i) errors.drain();
  }
  int keeper_status = 0;
  while (waitpid(keeper, &keeper_status, 0) < 0 && errno == EINTR) {
  }
  if (reports.start_failed) {
    const KeeperReport& report = *reports.start_failed;
    return Error("cannot start " + command.arguments.front() + ": " + describe(report.step) +
                 " failed: " + std::strerror(report.system_error));
  }
  if (!reports.ended) return Error("the process that watched " + program + " was killed");

  const KeeperReport& report = *reports.ended;
  outcome.limits = command.limits;
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  outcome.cpu_seconds = static_cast<double>(report.cpu_microseconds) * 1e-6;
  // The kernel's count starts with our own size, which the fork inherits until the program is
  // executed. Below that, the samples are the better number.
  outcome.peak_resident_bytes =
      report.largest_resident_bytes > report.resident_bytes_at_fork + kOwnGrowth
          ? report.largest_resident_bytes
          : sampled_peak;
  if (ending) {
    outcome.ending = *ending;
  } else if (WIFSIGNALED(report.wait_status)) {
    outcome.ending = Ending::Signalled;
    outcome.signal = WTERMSIG(report.wait_status);
  } else {
    outcome.exit_code = WEXITSTATUS(report.wait_status);
  }
  return outcome;
}

std::string ProcessOutcome::describe() const {
  switch (ending) {
    case Ending::Exited:
      return "exited with code " + std::to_string(exit_code);
    case Ending::Signalled: {
      const char* name = sigdescr_np(signal);
      return "ended by signal " + std::to_string(signal) + " (" +
             (name != nullptr ? name : "unknown") + ")";
    }
    case Ending::TimedOut:
      return "took longer than " + seconds_text(limits.seconds);
    case Ending::TooMuchMemory:
      return "used more than " + std::to_string(limits.resident_bytes >> 20) + " MiB of memory";
    case Ending::Cancelled:
      return "was cancelled";
    case Ending::TooMuchWritten:
      return "wrote more than " + std::to_string(limits.folder_bytes >> 20) + " MiB of files";
    case Ending::TooManyProcesses:
      return "started more than " + std::to_string(limits.processes) + " processes";
  }
  return "";
}

}  // namespace weft
