// SPDX-License-Identifier: Apache-2.0

#include "base/sandbox.h"

#include <dirent.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

namespace weft {
namespace {

// A shell's convention, which bubblewrap follows: ended by a signal is 128 + its number.
constexpr int kSignalBase = 128;

using Arguments = std::vector<std::string>;

void append(Arguments& arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

std::vector<std::string> gpu_devices() {
  std::vector<std::string> devices;
  DIR* folder = opendir("/dev");
  if (folder == nullptr) return devices;
  while (const dirent* entry = readdir(folder)) {
    if (std::string_view(entry->d_name).starts_with("nvidia"))
      devices.push_back(std::string("/dev/") + entry->d_name);
  }
  closedir(folder);
  return devices;
}

// bubblewrap applies these in order: a later mount lies over an earlier one.
Arguments wrapper(const Sandbox& sandbox) {
  Arguments arguments = {"bwrap", "--unshare-all", "--die-with-parent", "--new-session"};
  append(arguments, {"--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev"});
  append(arguments, {"--proc", "/proc"});
  // Root without capabilities still owns the kernel's settings, and bubblewrap leaves them open.
  for (const char* settings : {"/proc/sys", "/proc/sysrq-trigger"})
    append(arguments, {"--ro-bind-try", settings, settings});
  std::vector<std::string> hidden = {"/tmp", "/var/tmp", "/run", "/root", "/home"};
  if (const char* home = std::getenv("HOME")) hidden.emplace_back(home);
  hidden.insert(hidden.end(), sandbox.hidden.begin(), sandbox.hidden.end());
  for (const std::string& folder : hidden)
    if (folder != "/" && is_folder(folder)) append(arguments, {"--tmpfs", folder});
  if (sandbox.gpu)
    for (const std::string& device : gpu_devices())
      append(arguments, {"--dev-bind", device, device});
  for (const std::string& folder : sandbox.readable)
    append(arguments, {"--ro-bind", folder, folder});
  for (const std::string& folder : sandbox.writable) append(arguments, {"--bind", folder, folder});
  return arguments;
}

Command wrap(const Command& command, const Sandbox& sandbox, const std::string& program) {
  Command wrapped = command;
  wrapped.arguments = wrapper(sandbox);
  if (!command.working_directory.empty())
    append(wrapped.arguments, {"--chdir", command.working_directory});
  wrapped.working_directory = "/";
  append(wrapped.arguments, {"--", program});
  wrapped.arguments.insert(wrapped.arguments.end(), command.arguments.begin() + 1,
                           command.arguments.end());
  // bubblewrap and its first process inside count too.
  if (wrapped.limits.processes != 0) wrapped.limits.processes += 2;
  return wrapped;
}

SandboxSupport try_sandbox() {
  if (find_program("bwrap").empty())
    return {.reason = "bubblewrap is not installed (Debian package bubblewrap)"};
  const Command command{.arguments = {"true"}, .limits = {.seconds = 20}};
  const Result<ProcessOutcome> outcome = run(wrap(command, {}, find_program("true")));
  if (!outcome.ok()) return {.reason = outcome.error().message()};
  if (outcome->passed()) return {.available = true};
  std::string detail = outcome->errors.substr(0, outcome->errors.find('\n'));
  if (detail.empty()) detail = outcome->describe();
  return {.reason = "bubblewrap does not work here: " + detail};
}

}  // namespace

const SandboxSupport& sandbox_support() {
  static const SandboxSupport support = try_sandbox();
  return support;
}

Result<SandboxedOutcome> run_sandboxed(const Command& command, const Sandbox& sandbox) {
  const SandboxSupport& support = sandbox_support();
  if (!support.available) {
    return SandboxedOutcome{
        .outcome = TRY(run(command)), .sandboxed = false, .reason = support.reason};
  }
  if (command.arguments.empty()) return Error("a command needs a program");
  const std::string program = find_program(command.arguments.front());
  if (program.empty())
    return Error("program not found: " + command.arguments.front(),
                 "give its path, or put its folder on PATH");
  ProcessOutcome outcome = TRY(run(wrap(command, sandbox, program)));
  // Should the sandbox itself fail for this command (a folder that is not there), that is no
  // verdict about the program.
  if (outcome.ending == Ending::Exited && outcome.exit_code == 1 &&
      outcome.errors.starts_with("bwrap: "))
    return Error("the sandbox cannot be set up: " +
                 outcome.errors.substr(7, outcome.errors.find('\n') - 7));
  if (outcome.ending == Ending::Exited && outcome.exit_code > kSignalBase &&
      outcome.exit_code < kSignalBase + 65) {
    outcome.ending = Ending::Signalled;
    outcome.signal = outcome.exit_code - kSignalBase;
    outcome.exit_code = 0;
  }
  return SandboxedOutcome{.outcome = std::move(outcome), .sandboxed = true};
}

}  // namespace weft
