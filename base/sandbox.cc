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
// For running `true`. A sandbox that is slow on a busy machine is not one that is missing: what is
// found out once decides how all candidates are run.
constexpr double kTrySeconds = 300;
constexpr const char* kTemporaryBytes = "268435456";  // of each temporary folder in memory

using Arguments = std::vector<std::string>;

void append(Arguments& arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

// What programs and compilers need of a system. On a merged system /bin and the like are links.
void show_programs(Arguments& arguments) {
  for (const char* folder : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code failure;
    const std::filesystem::path target = std::filesystem::read_symlink(folder, failure);
    if (!failure)
      append(arguments, {"--symlink", target.string(), folder});
    else if (is_folder(folder))
      append(arguments, {"--ro-bind", folder, folder});
  }
  if (is_folder("/usr/local")) append(arguments, {"--tmpfs", "/usr/local"});
  for (const char* needed : {"/etc/ld.so.cache", "/etc/alternatives"})
    append(arguments, {"--ro-bind-try", needed, needed});
  append(arguments, {"--dev", "/dev", "--proc", "/proc"});
  // Files in memory count as nobody's, so what they may hold is bounded here.
  for (const char* folder : {"/tmp", "/dev/shm"})
    append(arguments, {"--size", kTemporaryBytes, "--tmpfs", folder});
}

void show_system(Arguments& arguments, const Sandbox& sandbox) {
  append(arguments, {"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"});
  std::vector<std::string> hidden = {"/tmp", "/var/tmp", "/run", "/root", "/home"};
  if (const char* home = std::getenv("HOME")) hidden.emplace_back(home);
  hidden.insert(hidden.end(), sandbox.hidden.begin(), sandbox.hidden.end());
  for (const std::string& folder : hidden)
    if (folder != "/" && is_folder(folder)) append(arguments, {"--tmpfs", folder});
}

// bubblewrap applies these in order: a later mount lies over an earlier one.
Arguments wrapper(const Sandbox& sandbox) {
  Arguments arguments = {"", "--unshare-all", "--die-with-parent", "--new-session"};
  append(arguments, {"--cap-drop", "ALL"});
  if (sandbox.view == Sandbox::View::Programs)
    show_programs(arguments);
  else
    show_system(arguments, sandbox);
  // Root without capabilities still owns the kernel's settings, and bubblewrap leaves them open.
  for (const char* settings : {"/proc/sys", "/proc/sysrq-trigger"})
    append(arguments, {"--ro-bind-try", settings, settings});
  for (const std::string& device : sandbox.devices)
    append(arguments, {"--dev-bind", device, device});
  for (const std::string& folder : sandbox.readable)
    append(arguments, {"--ro-bind", folder, folder});
  for (const std::string& folder : sandbox.writable) append(arguments, {"--bind", folder, folder});
  // What is left of the root and of /dev themselves: the folders that mounts hang on.
  if (sandbox.view == Sandbox::View::Programs)
    append(arguments, {"--remount-ro", "/dev", "--remount-ro", "/"});
  return arguments;
}

Command wrap(const Command& command, const Sandbox& sandbox, const std::string& program,
             const std::string& jailer) {
  Command wrapped = command;
  wrapped.arguments = wrapper(sandbox);
  wrapped.arguments.front() = jailer;
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

// Beside the running program, where the build puts it.
std::string own_jailer() {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return find_program((self.parent_path() / "weft-jail").string());
}

// Why a program cannot run sandboxes; empty when it can.
std::string problem_with(const std::string& jailer) {
  const Command command{.arguments = {"true"}, .limits = {.seconds = kTrySeconds}};
  const Result<ProcessOutcome> outcome = run(wrap(command, {}, find_program("true"), jailer));
  if (!outcome.ok()) return outcome.error().message();
  if (outcome->passed()) return "";
  std::string detail = outcome->errors.substr(0, outcome->errors.find('\n'));
  return detail.empty() ? outcome->describe() : detail;
}

SandboxSupport tried(SandboxSupport support, const std::string& missing) {
  support.reason = support.jailer.empty() ? missing : problem_with(support.jailer);
  support.available = support.reason.empty();
  return support;
}

SandboxSupport own_namespaces() {
  return tried({.jailer = own_jailer(), .kind = "namespaces"},
               "weft-jail is missing beside this program");
}
SandboxSupport bubblewrap() {
  return tried({.jailer = find_program("bwrap"), .kind = "bubblewrap"},
               "bubblewrap is not installed (Debian package bubblewrap)");
}

// WEFT_SANDBOX=bubblewrap or own leaves no choice; a test of the other one says so.
SandboxSupport try_sandbox(SandboxSupport (*first)(), SandboxSupport (*second)()) {
  const char* named = std::getenv("WEFT_SANDBOX");
  const std::string_view only = named == nullptr ? "" : named;
  if (only == "own") return own_namespaces();
  if (only == "bubblewrap") return bubblewrap();
  SandboxSupport one = first();
  if (one.available) return one;
  SandboxSupport other = second();
  if (!other.available)
    other.reason = one.kind + ": " + one.reason + "; " + other.kind + ": " + other.reason;
  return other;
}

}  // namespace

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

const SandboxSupport& sandbox_support(bool with_devices) {
  // Commands on a GPU take seconds, so the price of a sandbox is nothing there, and bubblewrap is
  // the one that has been seen to show a GPU to them (tests/gpu/results).
  if (with_devices) {
    static const SandboxSupport support = try_sandbox(bubblewrap, own_namespaces);
    return support;
  }
  static const SandboxSupport support = try_sandbox(own_namespaces, bubblewrap);
  return support;
}

Result<SandboxedOutcome> run_sandboxed(const Command& command, const Sandbox& sandbox) {
  const SandboxSupport& support = sandbox_support(!sandbox.devices.empty());
  if (!support.available) {
    return SandboxedOutcome{
        .outcome = TRY(run(command)), .sandboxed = false, .reason = support.reason};
  }
  if (command.arguments.empty()) return Error("a command needs a program");
  const std::string program = find_program(command.arguments.front());
  if (program.empty())
    return Error("program not found: " + command.arguments.front(),
                 "give its path, or put its folder on PATH");
  ProcessOutcome outcome = TRY(run(wrap(command, sandbox, program, support.jailer)));
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
