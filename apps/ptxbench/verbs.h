// SPDX-License-Identifier: Apache-2.0

// The verbs of ptxbench, one file each. A verb adds itself to the command line and leaves its exit
// code behind when it ran.
#pragma once

namespace CLI {
class App;
}

namespace weft::ptxbench {

// What every verb returns to the shell.
enum ExitCode : int {
  kPassed = 0,
  kFailed = 1,       // ran, and what it checked is not so
  kUsage = 2,        // the command line or a file it names
  kEnvironment = 3,  // something is missing on this machine
  kInternal = 4,     // our own bug
  kFault = 66,       // emulate: the program ended with 0, but the emulator saw a fault
};

void add_demo(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_emulate(CLI::App& app, int& exit_code);
void add_eval(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);
void add_tasks(CLI::App& app, int& exit_code);
void add_timer_test(CLI::App& app, int& exit_code);

// Only where the service is part of the build.
void add_compare(CLI::App& app, int& exit_code);
void add_device_worker(CLI::App& app, int& exit_code);
void add_record(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_replay_model(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_submit(CLI::App& app, int& exit_code);

}  // namespace weft::ptxbench
