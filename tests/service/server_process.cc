// SPDX-License-Identifier: Apache-2.0

#include "tests/service/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text_file.h"

namespace weft::service_test {

Result<ServerProcess> ServerProcess::start(const std::string& store,
                                           const std::vector<std::string>& more) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error("no pipe");
  Descriptor reading(ends[0]), writing(ends[1]);
  std::vector<std::string> words = {
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "ptxbench",
      "serve",
      "--port",
      "0",
      "--store",
      store};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, writing.get(), 1);
  const std::string log = store + ".log";
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  pid_t process = 0;
  const int failure =
      posix_spawn(&process, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return Error("cannot start " + words.front());
  writing.reset();
  ServerProcess server(process, std::move(reading));
  // "ptxbench serves on http://127.0.0.1:PORT with 2 workers"
  std::string line;
  char letter = 0;
  while (read(server.output_.get(), &letter, 1) == 1 && letter != '\n') line += letter;
  const size_t start = line.find("http://");
  if (start == std::string::npos) {
    const Result<std::string> said = read_file(log);
    return Error("the server did not start: " + (said.ok() ? *said : ""));
  }
  server.url_ = line.substr(start, line.find(' ', start) - start);
  return server;
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : process_(std::exchange(other.process_, 0)),
      output_(std::move(other.output_)),
      url_(std::move(other.url_)) {}

int ServerProcess::stop(int signal) {
  if (process_ == 0) return 0;
  kill(process_, signal);
  return wait();
}

int ServerProcess::wait() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

uint64_t ServerProcess::resident_bytes() const {
  std::ifstream file("/proc/" + std::to_string(process_) + "/statm");
  uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Json ptx_solution(const std::string& source) {
  return {{"name", "product"},
          {"definition", "gemm_n128_k2048"},
          {"author", "tests"},
          {"spec",
           {{"language", "ptx"},
            {"target_hardware", {"H100"}},
            {"entry_point", "kernel.ptx::run"},
            {"dependencies", Json::array()},
            {"destination_passing_style", true}}},
          {"sources", {{{"path", "kernel.ptx"}, {"content", source}}}}};
}

std::string read_candidate(const std::string& path) {
  return read_file(path).value();
}

}  // namespace weft::service_test
