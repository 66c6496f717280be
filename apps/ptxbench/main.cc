// SPDX-License-Identifier: Apache-2.0

// ptxbench: judges GPU kernels, on a GPU or without one.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>

#include "apps/ptxbench/sft.h"
#include "apps/ptxbench/verbs.h"

int main(int count, char** arguments) {
  using namespace weft::ptxbench;
  CLI::App app("Judges CUDA and PTX kernels on an emulated Hopper GPU.", "ptxbench");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 passed, 1 failed the check, 2 usage, 3 environment, 4 internal.\n"
      "Start with:  ptxbench doctor\n"
      "             ptxbench demo");
  int exit_code = kPassed;
  add_eval(app, exit_code);
  add_emulate(app, exit_code);
  add_inspect(app, exit_code);
  add_tasks(app, exit_code);
  add_timer_test(app, exit_code);
  add_demo(app, exit_code);
  add_doctor(app, exit_code);
#ifdef WEFT_SERVICE
  add_serve(app, exit_code);
  add_device_worker(app, exit_code);
  add_submit(app, exit_code);
  add_replay(app, exit_code);
  add_compare(app, exit_code);
  add_report(app, exit_code);
  add_run(app, exit_code);
  add_replay_model(app, exit_code);
  add_record(app, exit_code);
  add_sft(app, exit_code);
#endif
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kPassed : kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ptxbench: internal error: %s\n", error.what());
    return kInternal;
  }
  return exit_code;
}
