// SPDX-License-Identifier: Apache-2.0

// Expected values follow from the shell commands that are run; POSIX fixes the signal numbers.
#include "base/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "base/temporary_directory.h"

namespace weft {
namespace {

Command shell(const std::string& script) {
  return {.arguments = {"sh", "-c", script}};
}

ProcessOutcome run_or_fail(const Command& command) {
  Result<ProcessOutcome> outcome = run(command);
  if (!outcome.ok()) {
    ADD_FAILURE() << format(outcome.error());
    return {};
  }
  return *std::move(outcome);
}

bool gone(pid_t pid) {
  // A killed orphan may stay a zombie for a moment until somebody collects it.
  for (int i = 0; i < 200; ++i) {
    if (kill(pid, 0) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST(Subprocess, CapturesBothStreamsAndTheExitCode) {
  const ProcessOutcome outcome = run_or_fail(shell("printf out; printf err >&2; exit 7"));
  EXPECT_EQ(outcome.ending, Ending::Exited);
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.output, "out");
  EXPECT_EQ(outcome.errors, "err");
  EXPECT_FALSE(outcome.passed());
  EXPECT_EQ(outcome.describe(), "exited with code 7");
}

TEST(Subprocess, FeedsMoreInputThanAPipeHolds) {
  Command command{.arguments = {"cat"}};
  for (int i = 0; i < 300'000; ++i) command.input += static_cast<char>('a' + i % 26);
  const ProcessOutcome outcome = run_or_fail(command);
  EXPECT_EQ(outcome.output, command.input);
}

TEST(Subprocess, SurvivesAProgramThatDoesNotReadItsInput) {
  Command command{.arguments = {"true"}};
  command.input.assign(1 << 20, 'x');
  EXPECT_TRUE(run_or_fail(command).passed());
}

TEST(Subprocess, ReportsTheSignal) {
  const ProcessOutcome outcome = run_or_fail(shell("kill -SEGV $$"));
  EXPECT_EQ(outcome.ending, Ending::Signalled);
  EXPECT_EQ(outcome.signal, SIGSEGV);
  EXPECT_EQ(outcome.describe(), "ended by signal 11 (Segmentation fault)");
}

TEST(Subprocess, KeepsTheStartOfAFloodAndCountsTheRest) {
  Command command = shell("head -c 5000000 /dev/zero | tr '\\0' x");
  command.kept_output_bytes = 1000;
  const ProcessOutcome outcome = run_or_fail(command);
  EXPECT_EQ(outcome.output, std::string(1000, 'x'));
  EXPECT_EQ(outcome.output_bytes, 5'000'000u);
}

TEST(Subprocess, EndsAFloodAtTheTimeLimit) {
  Command command{.arguments = {"yes"}, .kept_output_bytes = 10'000, .limits = {.seconds = 2}};
  const ProcessOutcome outcome = run_or_fail(command);
  EXPECT_EQ(outcome.ending, Ending::TimedOut);
  EXPECT_EQ(outcome.output.size(), command.kept_output_bytes);
  EXPECT_EQ(outcome.describe(), "took longer than 2 s");
  EXPECT_LT(outcome.seconds, 50.0);
}

TEST(Subprocess, KillsGrandchildrenThatLeftTheSessionAtTheTimeLimit) {
  Command command = shell("setsid sh -c 'trap \"\" TERM; echo $$; sleep 60; true' & wait");
  command.limits.seconds = 2;
  const ProcessOutcome outcome = run_or_fail(command);
  EXPECT_EQ(outcome.ending, Ending::TimedOut);
  ASSERT_FALSE(outcome.output.empty());
  EXPECT_TRUE(gone(std::stoi(outcome.output)));
}

TEST(Subprocess, KillsWhatTheProgramLeavesBehind) {
  const ProcessOutcome outcome = run_or_fail(shell("setsid sleep 60 & echo $!"));
  EXPECT_TRUE(outcome.passed());
  EXPECT_LT(outcome.seconds, 50.0);
  EXPECT_TRUE(gone(std::stoi(outcome.output)));
}

TEST(Subprocess, EverythingEndsWhenWeDie) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t judge = fork();
  if (judge == 0) {
    // Plays the judge; is killed while its program runs. `ends` is closed in the program, so it
    // tells its number through a file descriptor path of this process.
    const std::string target =
        "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(ends[1]);
    (void)run(shell("echo $$ > " + target + "; setsid sleep 60"));
    _exit(0);
  }
  char text[32] = {};
  ASSERT_GT(read(ends[0], text, sizeof text - 1), 0);
  kill(judge, SIGKILL);
  waitpid(judge, nullptr, 0);
  EXPECT_TRUE(gone(std::atoi(text)));
  close(ends[0]);
  close(ends[1]);
}

TEST(Subprocess, StopsAtTheMemoryLimit) {
  // tail keeps all of an endless line.
  Command command = shell("tail /dev/zero");
  command.limits = {.seconds = 60, .resident_bytes = 64 << 20};
  const ProcessOutcome outcome = run_or_fail(command);
  EXPECT_EQ(outcome.ending, Ending::TooMuchMemory);
  EXPECT_EQ(outcome.describe(), "used more than 64 MiB of memory");
  EXPECT_GT(outcome.peak_resident_bytes, uint64_t{60} << 20);
}

TEST(Subprocess, PassesTheAddressSpaceLimitOn) {
  Command command = shell("ulimit -v");
  command.limits.address_space_bytes = uint64_t{1} << 30;
  EXPECT_EQ(run_or_fail(command).output, "1048576\n");
}

TEST(Subprocess, StopsAtTheNumberOfProcesses) {
  Command command = shell("for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait");
  command.limits = {.seconds = 60, .processes = 5};
  EXPECT_EQ(run_or_fail(command).ending, Ending::TooManyProcesses);
}

TEST(Subprocess, StopsAtTheSizeOfAFolder) {
  const TemporaryDirectory folder = TemporaryDirectory::create("test").value();
  // 16 files of 1 MiB are over the limit, though each alone is far below it; then it waits.
  Command command = shell("cd " + folder.path() +
                          "; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do "
                          "head -c 1048576 /dev/zero > f$i; done; sleep 60");
  command.limits = {.seconds = 60, .folder_bytes = 8 << 20};
  command.limited_folder = folder.path();
  const ProcessOutcome outcome = run_or_fail(command);
  EXPECT_EQ(outcome.ending, Ending::TooMuchWritten);
  EXPECT_EQ(outcome.describe(), "wrote more than 8 MiB of files");
  command.limits.folder_bytes = 64 << 20;
  command.arguments = {"true"};
  EXPECT_TRUE(run_or_fail(command).passed());
}

TEST(Subprocess, RefusesFilesBeyondTheLimit) {
  const TemporaryDirectory folder = TemporaryDirectory::create("test").value();
  Command command{
      .arguments = {"sh", "-c", "exec head -c 100000 /dev/zero > " + folder.file("zeros")}};
  command.limits.file_bytes = 1000;
  const ProcessOutcome outcome = run_or_fail(command);
  EXPECT_EQ(outcome.ending, Ending::Signalled);
  EXPECT_EQ(outcome.signal, SIGXFSZ);
  EXPECT_EQ(std::filesystem::file_size(folder.file("zeros")), 1000u);
}

TEST(Subprocess, SetsTheEnvironment) {
  Command command{.arguments = {"/usr/bin/env"}};
  command.environment = {{"A=1", "B=2"}};
  command.extra_environment = {{"B", "3"}};
  EXPECT_EQ(run_or_fail(command).output, "A=1\nB=3\n");
}

TEST(Subprocess, StartsInTheWorkingDirectory) {
  Command command{.arguments = {"pwd"}, .working_directory = "/usr"};
  EXPECT_EQ(run_or_fail(command).output, "/usr\n");
}

TEST(Subprocess, HandsOnNoOtherDescriptor) {
  const Descriptor file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor leak(fcntl(file.get(), F_DUPFD, 50));  // without O_CLOEXEC on purpose
  ASSERT_EQ(leak.get(), 50);
  EXPECT_EQ(run_or_fail(shell("[ -e /proc/$$/fd/50 ] && echo leaked")).output, "");
}

TEST(Subprocess, LeavesNoDescriptorOpenHere) {
  const auto lowest_free = [] { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)).get(); };
  const int before = lowest_free();
  for (int i = 0; i < 5; ++i) run_or_fail(shell("exit 0"));
  EXPECT_EQ(lowest_free(), before);
}

TEST(Subprocess, SaysWhichProgramIsMissing) {
  const Result<ProcessOutcome> outcome = run({.arguments = {"no-such-program-anywhere"}});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().message(), "program not found: no-such-program-anywhere");
}

TEST(Subprocess, SaysWhenTheWorkingDirectoryIsMissing) {
  const Result<ProcessOutcome> outcome =
      run({.arguments = {"true"}, .working_directory = "/no/such/folder"});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().message(),
            "cannot start true: enter the working directory failed: No such file or directory");
}

TEST(Subprocess, RunsSeveralAtOnceWithoutMixingThem) {
#ifdef __SANITIZE_THREAD__
  // The keeper is made by a plain clone. The sanitizer does not see it, takes the copy's
  // descriptors for those of other threads, and may wait there for locks that nobody holds.
  GTEST_SKIP() << "the thread sanitizer cannot follow a copy of a process with several threads";
#endif
  std::vector<std::thread> workers;
  std::vector<std::string> outputs(8);
  for (size_t i = 0; i < outputs.size(); ++i) {
    workers.emplace_back([&outputs, i] {
      Command command{.arguments = {"cat"}, .input = std::to_string(i)};
      for (int round = 0; round < 5; ++round) outputs[i] += run_or_fail(command).output;
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string digit = std::to_string(i);
    EXPECT_EQ(outputs[i], digit + digit + digit + digit + digit);
  }
}

TEST(Subprocess, CountsProcessorTime) {
  const ProcessOutcome outcome =
      run_or_fail(shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"));
  EXPECT_GT(outcome.cpu_seconds, 0.01);
  EXPECT_LT(outcome.cpu_seconds, outcome.seconds + 0.5);
}

}  // namespace
}  // namespace weft
