// SPDX-License-Identifier: Apache-2.0

// For tests: a redis-server of their own, on a socket in their folder, that dies with them. It
// keeps nothing on disk and can be stopped, frozen and started again.
#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <string>
#include <vector>

#include "base/subprocess.h"

namespace weft {

class RedisTestServer {
 public:
  explicit RedisTestServer(std::string folder)
      : folder_(std::move(folder)), program_(find_program("redis-server")) {
    start();
  }
  ~RedisTestServer() { stop(); }
  RedisTestServer(const RedisTestServer&) = delete;
  RedisTestServer& operator=(const RedisTestServer&) = delete;

  // False where redis-server is not installed. A started one takes a moment to make its socket.
  bool running() const { return process_ != 0; }
  std::string url() const { return "unix:" + folder_ + "/redis.sock"; }

  void start() {
    if (program_.empty() || process_ != 0) return;
    std::vector<std::string> words = {program_,
                                      "--port",
                                      "0",
                                      "--unixsocket",
                                      url().substr(5),
                                      "--save",
                                      "",
                                      "--appendonly",
                                      "no",
                                      "--dir",
                                      folder_,
                                      "--logfile",
                                      folder_ + "/redis.log"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (posix_spawn(&process_, program_.c_str(), nullptr, nullptr, arguments.data(), environ) != 0)
      process_ = 0;
  }
  void stop() {
    if (process_ == 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  // It holds its connections and answers nothing.
  void freeze() const { kill(process_, SIGSTOP); }
  void thaw() const { kill(process_, SIGCONT); }

 private:
  std::string folder_, program_;
  pid_t process_ = 0;
};

}  // namespace weft
