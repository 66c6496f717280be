// SPDX-License-Identifier: Apache-2.0

// A device worker as its server sees it: a process that is given one line and answers with lines.
// When it is ended, all that it started ends with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace weft::service {

class WorkerProcess {
 public:
  // `arguments`: the program first. The worker finds its end of the line at descriptor 0.
  static Result<WorkerProcess> start(const std::vector<std::string>& arguments,
                                     const std::string& temporary_folder);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();

  pid_t id() const { return process_; }

  // False: it is gone.
  bool send(const std::string& line);

  enum class Event : uint8_t { Line, Quiet, Gone };
  // The next line, or Quiet when none came in time.
  Event receive(std::string& line, double seconds);

  // Kills it if it lives, and says how it ended: "ended by signal 9 (Killed)".
  std::string end();

 private:
  WorkerProcess(pid_t process, Descriptor line) : process_(process), line_(std::move(line)) {}

  pid_t process_ = 0;  // 0: ended
  Descriptor line_;
  std::string received_;  // after the last whole line
};

}  // namespace weft::service
