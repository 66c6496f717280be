// SPDX-License-Identifier: Apache-2.0

// `ptxbench serve` as its users start it, in a folder of its own, on a port of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/json.h"
#include "base/result.h"

namespace weft::service_test {

class ServerProcess {
 public:
  // `store` outlives the server, so that a second one finds what the first left.
  static Result<ServerProcess> start(const std::string& store,
                                     const std::vector<std::string>& more = {});
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&&) = delete;
  ~ServerProcess() { stop(9); }

  const std::string& url() const { return url_; }
  pid_t id() const { return process_; }
  // Sends the signal and waits for the end; the exit code, or minus the signal.
  int stop(int signal);
  // Waits for an end that something else brings about.
  int wait();
  uint64_t resident_bytes() const;

 private:
  ServerProcess(pid_t process, Descriptor output) : process_(process), output_(std::move(output)) {}

  pid_t process_ = 0;
  Descriptor output_;  // the server's standard output
  std::string url_;
};

// A solution of the schema around a PTX text; `definition` is gemm_n128_k2048's.
Json ptx_solution(const std::string& source);
std::string read_candidate(const std::string& path);

}  // namespace weft::service_test
