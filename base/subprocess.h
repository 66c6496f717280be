// SPDX-License-Identifier: Apache-2.0

// Runs another program under limits and waits for it.
//
// Whatever the program starts ends with it: when the program exits, times out or goes over a limit,
// every process below it is killed, also those that left its session, and when our own process dies
// the same happens. Output beyond the kept size is counted and thrown away, so a flood costs time
// but no memory. No descriptor but the three standard ones reaches the program.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace weft {

// Zero means "no limit" for all of them.
struct ProcessLimits {
  double seconds = 0;                // wall clock
  uint64_t resident_bytes = 0;       // memory in use, all processes together; sampled
  uint64_t address_space_bytes = 0;  // of each process; the kernel refuses more
  uint64_t cpu_seconds = 0;          // of each process
  uint64_t file_bytes = 0;           // largest file that the program may write
  uint64_t processes = 0;            // alive at once, the program included; sampled
  uint64_t folder_bytes = 0;         // in the files of Command::limited_folder; sampled
};

enum class Streams : uint8_t {
  Captured,   // input, output and errors go through this library
  Inherited,  // the program talks to our own terminal or pipes
};

struct Command {
  std::vector<std::string> arguments;  // the program first; found on PATH when it has no slash
  // "NAME=value" entries; none means ours.
  std::optional<std::vector<std::string>> environment;
  // Set after `environment`; a name given here replaces the same name there.
  std::vector<std::pair<std::string, std::string>> extra_environment;
  std::string working_directory;  // empty means ours
  std::string input;              // bytes for the standard input
  Streams streams = Streams::Captured;
  uint64_t kept_output_bytes = 1 << 20;  // of each stream, from its start
  ProcessLimits limits;
  std::string limited_folder;  // see ProcessLimits::folder_bytes
  // Once it is true, everything is killed. Lives as long as the run.
  const std::atomic<bool>* cancel = nullptr;
};

enum class Ending : uint8_t {
  Exited,     // by itself, with `exit_code`
  Signalled,  // by `signal`, which we did not send
  TimedOut,   // this and those below: killed by us for going over the limit
  TooMuchMemory,
  TooManyProcesses,
  TooMuchWritten,
  Cancelled,  // because Command::cancel said so
};

struct ProcessOutcome {
  Ending ending = Ending::Exited;
  int exit_code = 0;                 // when Exited
  int signal = 0;                    // when Signalled
  std::string output;                // at most `kept_output_bytes`
  std::string errors;                // at most `kept_output_bytes`
  uint64_t output_bytes = 0;         // as many as the program wrote
  uint64_t errors_bytes = 0;         // as many as the program wrote
  double seconds = 0;                // wall clock, from the start until all its processes are gone
  double cpu_seconds = 0;            // user and system, all processes
  uint64_t peak_resident_bytes = 0;  // of the largest process
  ProcessLimits limits;              // in force during the run

  bool passed() const { return ending == Ending::Exited && exit_code == 0; }
  // "exited with code 1", "ended by signal 11 (Segmentation fault)", "took longer than 5 s".
  std::string describe() const;
};

// An error only when the program cannot be started at all.
Result<ProcessOutcome> run(const Command& command);

// Where `program` is found on PATH, or itself when it has a slash; empty if it is not an
// executable.
std::string find_program(const std::string& program);

}  // namespace weft
