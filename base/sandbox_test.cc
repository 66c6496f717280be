// SPDX-License-Identifier: Apache-2.0

// What a sandboxed command can and cannot do, seen from inside. Where the machine allows no sandbox
// the tests say so and are skipped.
#include "base/sandbox.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"
#include "base/text_file.h"

namespace weft {
namespace {

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!sandbox_support().available) GTEST_SKIP() << sandbox_support().reason;
  }

  ProcessOutcome run_inside(const std::string& script) {
    Command command{.arguments = {"sh", "-c", script},
                    .working_directory = scratch_.path(),
                    .limits = {.seconds = 30}};
    const Result<SandboxedOutcome> result =
        run_sandboxed(command, {.writable = {scratch_.path()}, .hidden = {hidden_.path()}});
    if (!result.ok()) {
      ADD_FAILURE() << format(result.error());
      return {};
    }
    EXPECT_TRUE(result->sandboxed);
    return result->outcome;
  }

  TemporaryDirectory scratch_ = TemporaryDirectory::create("scratch").value();
  TemporaryDirectory hidden_ = TemporaryDirectory::create("hidden").value();
};

TEST_F(SandboxTest, WritesToTheScratchFolder) {
  EXPECT_TRUE(run_inside("echo kept > result").passed());
  EXPECT_EQ(read_file(scratch_.file("result")).value(), "kept\n");
}

TEST_F(SandboxTest, CannotChangeTheSystem) {
  EXPECT_FALSE(run_inside("echo x > /usr/weft-sandbox-test").passed());
  EXPECT_FALSE(std::filesystem::exists("/usr/weft-sandbox-test"));
  // Writing back what it reads changes nothing where it succeeds.
  EXPECT_FALSE(run_inside("f=/proc/sys/kernel/panic; x=$(cat $f); echo $x > $f").passed());
}

TEST_F(SandboxTest, SeesNoOtherTemporaryFilesAndLeavesNone) {
  std::ofstream(hidden_.file("secret")) << "secret";
  const ProcessOutcome outcome =
      run_inside("cat " + hidden_.file("secret") + "; echo x > /tmp/weft-left-behind");
  EXPECT_EQ(outcome.output, "");
  EXPECT_FALSE(std::filesystem::exists("/tmp/weft-left-behind"));
}

TEST_F(SandboxTest, HasNoNetworkButLoopback) {
  const ProcessOutcome outcome = run_inside("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '");
  EXPECT_EQ(outcome.output, "lo\n");
}

TEST_F(SandboxTest, SeesOnlyItsOwnProcesses) {
  EXPECT_FALSE(run_inside("kill -0 " + std::to_string(getpid())).passed());
}

TEST_F(SandboxTest, ReportsExitCodesAndSignals) {
  EXPECT_EQ(run_inside("exit 3").exit_code, 3);
  const ProcessOutcome outcome = run_inside("kill -SEGV $$");
  EXPECT_EQ(outcome.ending, Ending::Signalled);
  EXPECT_EQ(outcome.signal, SIGSEGV);
}

TEST_F(SandboxTest, EndsAllAtTheTimeLimit) {
  Command command{.arguments = {"sh", "-c", "setsid sleep 60 & sleep 60"},
                  .limits = {.seconds = 0.5}};
  const Result<SandboxedOutcome> result = run_sandboxed(command, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->outcome.ending, Ending::TimedOut);
  EXPECT_LT(result->outcome.seconds, 50.0);
}

TEST_F(SandboxTest, WatchesMemoryInside) {
  Command command{.arguments = {"tail", "/dev/zero"},
                  .limits = {.seconds = 60, .resident_bytes = 64 << 20}};
  const Result<SandboxedOutcome> result = run_sandboxed(command, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->outcome.ending, Ending::TooMuchMemory);
}

TEST_F(SandboxTest, ShowsAReadableFolderInsideAHiddenOne) {
  std::filesystem::create_directories(hidden_.file("shown"));
  std::ofstream(hidden_.file("shown/data")) << "data";
  const Command command{.arguments = {"cat", hidden_.file("shown/data")}};
  const Result<SandboxedOutcome> result =
      run_sandboxed(command, {.readable = {hidden_.file("shown")}, .hidden = {hidden_.path()}});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->outcome.output, "data");
}

TEST_F(SandboxTest, SaysWhenAFolderIsMissing) {
  const Result<SandboxedOutcome> result =
      run_sandboxed({.arguments = {"true"}}, {.writable = {"/no/such/folder"}});
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.error().message().starts_with("the sandbox cannot be set up: "));
}

TEST_F(SandboxTest, ShowsProgramsAndNothingElse) {
  const Command command{
      .arguments = {"sh", "-c",
                    "cat /etc/passwd; ls /usr/local; touch /x /usr/x /dev/x; ls / | tr '\\n' ' '"},
      .working_directory = scratch_.path()};
  const Result<SandboxedOutcome> result =
      run_sandboxed(command, {.writable = {scratch_.path()}, .view = Sandbox::View::Programs});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->outcome.output.find("root:"), std::string::npos);
  EXPECT_EQ(result->outcome.output.find(" home"), std::string::npos);
  EXPECT_NE(result->outcome.output.find("usr"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists("/usr/x"));
}

// Any device that a sandbox does not have by itself stands for a GPU's.
TEST_F(SandboxTest, ShowsDevicesThatItIsGiven) {
  std::string device;
  for (const char* one : {"/dev/kmsg", "/dev/cpu_dma_latency", "/dev/fuse", "/dev/net/tun"})
    if (device.empty() && std::filesystem::is_character_file(one)) device = one;
  if (device.empty()) GTEST_SKIP() << "this machine has no device to show";
  const Command command{.arguments = {"sh", "-c", "test -c " + device + " && ! touch /dev/new"},
                        .limits = {.seconds = 30}};
  const Result<SandboxedOutcome> result =
      run_sandboxed(command, {.devices = {device}, .view = Sandbox::View::Programs});
  ASSERT_TRUE(result.ok()) << format(result.error());
  EXPECT_TRUE(result->outcome.passed()) << result->outcome.errors;
}

TEST_F(SandboxTest, IsEndedByAFlag) {
  std::atomic<bool> cancel{true};
  const Command command{.arguments = {"sleep", "60"}, .cancel = &cancel};
  const Result<SandboxedOutcome> result = run_sandboxed(command, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->outcome.ending, Ending::Cancelled);
  EXPECT_LT(result->outcome.seconds, 50.0);
}

// The same tests once more, in a process that may use nothing but bubblewrap.
TEST(Sandbox, WorksTheSameInBubblewrap) {
  if (std::getenv("WEFT_SANDBOX") != nullptr) GTEST_SKIP() << "this is that process";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const Command command{.arguments = {self, "--gtest_filter=SandboxTest.*"},
                        .extra_environment = {{"WEFT_SANDBOX", "bubblewrap"}},
                        .limits = {.seconds = 300}};
  const Result<ProcessOutcome> outcome = run(command);
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->passed()) << outcome->output << outcome->errors;
  if (outcome->output.find("SKIPPED") != std::string::npos) GTEST_SKIP() << outcome->output;
}

TEST(Sandbox, SaysWhyWhenThereIsNone) {
  EXPECT_EQ(sandbox_support().available, sandbox_support().reason.empty());
}

}  // namespace
}  // namespace weft
