// SPDX-License-Identifier: Apache-2.0

// ptxbench emulate: runs any program that was linked against the shared CUDA runtime, with the
// emulated libraries first on its library path.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/schedule_seeds.h"
#include "apps/ptxbench/verbs.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "base/temporary_directory.h"
#include "ptxbench/emulator/checks.h"
#include "ptxbench/judge/toolchain.h"

namespace weft::ptxbench {
namespace {

struct Options {
  std::vector<std::string> command;
  std::string report, check, device = "h100";
  uint64_t schedule_seed = 0;
  std::optional<std::string> schedule_seeds;
  bool json = false;
  unsigned workers = 0;
  double max_seconds = 0;
};

std::string library_path(const std::string& emulated) {
  const char* before = std::getenv("LD_LIBRARY_PATH");
  return before == nullptr || *before == '\0' ? emulated : emulated + ":" + before;
}

// One argument as a shell reads it.
std::string quoted(const std::string& argument) {
  const bool plain = !argument.empty() && argument.find_first_not_of(
                                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                                              "XYZ0123456789_-+=./:,@%") == std::string::npos;
  if (plain) return argument;
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

// The command line that runs the program again, with {} for the seed.
std::string repeat_line(const Options& options) {
  std::string line = fmt::format("ptxbench emulate --schedule-seed {{}} --workers {} --device {}",
                                 std::max(options.workers, 1u), options.device);
  if (!options.check.empty()) line += " --check " + quoted(options.check);
  if (options.max_seconds > 0) line += fmt::format(" --max-seconds {}", options.max_seconds);
  line += " --";
  for (const std::string& argument : options.command) {
    line += ' ';
    for (const char c : quoted(argument))
      line += c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
  }
  return line;
}

// True when the report says that the emulator saw a fault.
bool has_fault(const std::string& report) {
  const Result<Json> json = read_json(report);
  return json.ok() && json->is_object() && json->contains("fault") && !(*json)["fault"].is_null();
}

int emulate(const Options& options) {
  if (const auto checks = emulator::parse_checks(options.check); !checks.ok())
    return fail(checks.error(), kUsage);
  const judge::Toolchain toolchain = judge::find_toolchain();
  if (toolchain.emulated_cuda.empty()) {
    return fail(Error("the emulated CUDA libraries are missing: cuda/libcudart.so.13 beside the "
                      "program's folder",
                      "build the whole project: cmake --build build/dev"),
                kEnvironment);
  }
  if (find_program(options.command.front()).empty()) {
    return fail(Error("program not found: " + options.command.front(), "give its path after --"),
                kUsage);
  }
  Result<TemporaryDirectory> scratch = TemporaryDirectory::create("ptxbench");
  if (!scratch.ok()) return fail(scratch.error(), kEnvironment);
  const std::string report = options.report.empty() ? scratch->file("report.json") : options.report;
  std::remove(report.c_str());
  Command command;
  command.arguments = options.command;
  command.streams = Streams::Inherited;
  command.extra_environment = {{"LD_LIBRARY_PATH", library_path(toolchain.emulated_cuda)},
                               {"WEFT_EMULATE_REPORT", report},
                               {"WEFT_EMULATE_DEVICE", options.device},
                               {"WEFT_EMULATE_SEED", std::to_string(options.schedule_seed)}};
  if (!options.check.empty())
    command.extra_environment.emplace_back("WEFT_EMULATE_CHECK", options.check);
  if (options.workers != 0)
    command.extra_environment.emplace_back("WEFT_EMULATE_WORKERS", std::to_string(options.workers));
  if (options.max_seconds > 0) {
    command.extra_environment.emplace_back("WEFT_EMULATE_MAX_SECONDS",
                                           fmt::format("{}", options.max_seconds));
  }
  if (options.schedule_seeds) {
    const Result<SeedRange> seeds = parse_seeds(*options.schedule_seeds);
    if (!seeds.ok()) return fail(seeds.error(), kUsage);
    command.streams = Streams::Captured;
    command.kept_output_bytes = 1 << 16;
    // Blocks of several workers meet in global memory in an order that nobody can repeat.
    if (options.workers == 0) command.extra_environment.emplace_back("WEFT_EMULATE_WORKERS", "1");
    command.extra_environment.emplace_back("WEFT_EMULATE_HOST_READS", "1");
    return search_seeds({.seeds = *seeds,
                         .command = std::move(command),
                         .report = report,
                         .repeat = repeat_line(options),
                         .json = options.json});
  }
  std::fflush(stdout);
  const Result<ProcessOutcome> ran = run(command);
  if (!ran.ok()) return fail(ran.error(), kEnvironment);
  if (ran->ending != Ending::Exited) {
    std::fprintf(stderr, "ptxbench: the program %s\n", ran->describe().c_str());
    return 128 + ran->signal;
  }
  if (ran->exit_code == 0 && has_fault(report)) return kFault;
  return ran->exit_code;
}

}  // namespace

void add_emulate(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("emulate", "Runs a CUDA program on the emulated GPU");
  verb->footer(
      "The program is built with: nvcc -cudart shared -gencode arch=compute_90a,code=compute_90a "
      "...\n"
      "Exit code: the program's own; 66 when it ended with 0 although a kernel faulted; 128 + n "
      "when signal n ended it.\n"
      "Examples:\n"
      "  ptxbench emulate -- ./vector_add\n"
      "  ptxbench emulate --check race,proxy -- ./gemm 512 512 512\n"
      "  ptxbench emulate --report ran.json --schedule-seed 7 -- ./gemm 512 512 512\n"
      "  ptxbench emulate --schedule-seeds 1..50 -- ./gemm 512 512 512\n"
      "  ptxbench emulate --device h200 --max-seconds 60 -- ./attention");
  verb->add_option("--report", options->report,
                   "Write what executed to this file (weft.emulate.report.v1)");
  verb->add_option("--check", options->check,
                   "What to look for, with commas between: memory, init, race, proxy, barrier, "
                   "wgmma, or all. memory and barrier are always on");
  verb->add_option("--schedule-seed", options->schedule_seed,
                   "Perturb warp order and completion times; 0 is the plain order");
  CLI::Option* seeds = verb->add_option(
      "--schedule-seeds", options->schedule_seeds,
      "Run once for each seed, like 1..50, and say which first gives another result: other bytes "
      "in a copy to the host, or in managed or pinned memory after a launch, another exit code or "
      "fault. Exit code: 0 all ended well and alike, 1 not");
  verb->add_flag("--json", options->json, "Print what --schedule-seeds found as JSON")
      ->needs(seeds);
  verb->add_option("--device", options->device, "Device to emulate")
      ->check(CLI::IsMember({"h100", "h200", "b200"}));
  verb->add_option("--workers", options->workers, "Host threads (default: one per core)");
  verb->add_option("--max-seconds", options->max_seconds, "Stop a launch after this many seconds")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("command", options->command, "Program and its arguments, after --")->required();
  verb->callback([options, &exit_code] { exit_code = emulate(*options); });
}

}  // namespace weft::ptxbench
