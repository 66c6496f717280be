// SPDX-License-Identifier: Apache-2.0

// weft-jail: runs a program in namespaces of its own, at half the price of bubblewrap and without
// it. It takes the same words and fails with the same prefix, so that base/sandbox.cc need not know
// which it started.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/jail/arguments.h"
#include "base/jail/privileges.h"
#include "base/jail/root.h"

namespace weft::jail {
namespace {

constexpr int kSignalBase = 128;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bwrap: %s\n", why.c_str());
  _exit(1);
}

void write_text(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    give_up(std::string("cannot write ") + path + ": " + std::strerror(errno));
  close(file);
}

void die_with_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int wait_for(pid_t wanted) {
  for (;;) {
    int status = 0;
    const pid_t pid = wait(&status);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) return 1;
    if (pid != wanted) continue;
    return WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
  }
}

[[noreturn]] void become_program(const Arguments& arguments) {
  if (!arguments.directory.empty() && chdir(arguments.directory.c_str()) != 0)
    give_up("cannot enter " + arguments.directory + ": " + std::strerror(errno));
  if (const std::string why = drop_capabilities(); !why.empty()) give_up(why);
  if (const std::string why = filter_system_calls(); !why.empty()) give_up(why);
  execv(arguments.program.front(), arguments.program.data());
  give_up(std::string("cannot execute ") + arguments.program.front() + ": " + std::strerror(errno));
}

int run(const Arguments& arguments) {
  if (!arguments.mistake.empty()) give_up(arguments.mistake);
  die_with_parent();
  const uid_t user = getuid();
  const gid_t group = getgid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
              CLONE_NEWUTS) != 0)
    give_up(std::string("cannot make namespaces: ") + std::strerror(errno));
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/uid_map", std::to_string(user) + " " + std::to_string(user) + " 1");
  write_text("/proc/self/gid_map", std::to_string(group) + " " + std::to_string(group) + " 1");

  // The first process of the new numbering builds the root and collects what the program leaves;
  // when it ends, the kernel ends everything in there.
  const pid_t first = fork();
  if (first < 0) give_up(std::string("cannot fork: ") + std::strerror(errno));
  if (first != 0) return wait_for(first);
  die_with_parent();
  setsid();
  if (const std::string why = enter_new_root(arguments.mounts); !why.empty()) give_up(why);
  const pid_t program = fork();
  if (program < 0) give_up(std::string("cannot fork: ") + std::strerror(errno));
  if (program == 0) become_program(arguments);
  return wait_for(program);
}

}  // namespace
}  // namespace weft::jail

int main(int count, char** values) {
  const int code = weft::jail::run(weft::jail::read_arguments(count, values));
  _exit(code);
}
