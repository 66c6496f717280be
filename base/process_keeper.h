// SPDX-License-Identifier: Apache-2.0

// The process between us and a program that we run. It adopts whatever the program orphans, so that
// at the end nothing survives. It is forked from a process that may have several workers, so it
// uses nothing but system calls: no allocation, no locks.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/subprocess.h"

namespace weft {

// What the program does between the fork and its first instruction.
enum class StartStep : int32_t { Fork, EnterDirectory, SetLimit, Execute };

// What the keeper and the program before its start write to the status pipe.
struct KeeperReport {
  enum class Kind : int32_t { StartFailed, Ended };
  Kind kind = Kind::Ended;
  int32_t system_error = 0;          // StartFailed: errno
  StartStep step = StartStep::Fork;  // StartFailed: where
  int32_t wait_status = 0;           // Ended: of the program itself
  uint64_t cpu_microseconds = 0;
  uint64_t largest_resident_bytes = 0;  // of all reaped processes, as the kernel counts it
  uint64_t resident_bytes_at_fork = 0;  // below this the number above is the parent's, not theirs
};

// Everything prepared before the fork.
struct KeeperOrders {
  const char* program = nullptr;            // absolute path
  char* const* arguments = nullptr;         // ends with nullptr
  char* const* environment = nullptr;       // ends with nullptr
  const char* working_directory = nullptr;  // nullptr: stay
  ProcessLimits limits;
  Streams streams = Streams::Captured;
  int input = -1, output = -1, errors = -1;  // the program's ends; unused when inherited
  int control = -1;                          // closed by the parent: "kill everything now"
  int status = -1;                           // KeeperReports go here
  int started = -1;                          // closed when the program is executed
};

// fork() without the handlers that libraries registered for it. OpenBLAS stops its threads in one,
// which deadlocks when another thread multiplies at that moment; and nothing that runs between here
// and an execve needs any.
pid_t fork_plainly();

// Runs in the forked child; never returns.
[[noreturn]] void keep_process(const KeeperOrders& orders);

}  // namespace weft
