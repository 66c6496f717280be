// SPDX-License-Identifier: Apache-2.0

// ptxbench inspect: which instructions of an architecture a kernel contains, by line. Static: what
// is there may never run.
#include <map>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/support.h"
#include "apps/ptxbench/verbs.h"
#include "base/temporary_directory.h"
#include "base/text_file.h"
#include "ptxbench/judge/build.h"
#include "ptxbench/judge/candidate.h"
#include "ptxbench/judge/static_use.h"
#include "ptxbench/judge/toolchain.h"

namespace weft::ptxbench {
namespace {

struct Options {
  std::string kernel, source_root;
  bool json = false;
  bool support = false;
};

struct Inspection {
  judge::StaticUse use;
  std::vector<std::string> compiler_notes;
  std::string ptx;
};

// Exit codes differ by what went wrong, so the error comes with one.
struct Problem {
  Error error;
  int exit_code;
};

std::optional<Problem> inspect_file(const Options& options, Inspection& inspection) {
  std::string ptx;
  if (options.kernel.ends_with(".ptx")) {
    Result<std::string> text = read_file(options.kernel);
    if (!text.ok()) return Problem{std::move(text).error(), kUsage};
    ptx = std::move(text).value();
  } else {
    Result<judge::Candidate> candidate = judge::load_candidate(options.kernel, options.source_root);
    if (!candidate.ok()) return Problem{std::move(candidate).error(), kUsage};
    const judge::Toolchain toolchain = judge::find_toolchain();
    Result<TemporaryDirectory> scratch = TemporaryDirectory::create("ptxbench");
    if (!scratch.ok()) return Problem{std::move(scratch).error(), kEnvironment};
    Result<judge::BuildOutcome> built =
        judge::build_candidate(*candidate, toolchain, {.folder = scratch->path(), .cache = ""}, {});
    if (!built.ok()) return Problem{std::move(built).error(), kEnvironment};
    if (!built->built)
      return Problem{Error("the kernel does not compile: " + built->failure, built->log), kFailed};
    inspection.compiler_notes = built->notes;
    ptx = built->ptx;
  }
  inspection.ptx = ptx;
  if (options.support) return std::nullopt;
  Result<judge::StaticUse> use = judge::static_use(ptx, options.kernel);
  if (!use.ok()) return Problem{std::move(use).error(), kFailed};
  inspection.use = std::move(use).value();
  return std::nullopt;
}

std::string place(const judge::StaticInstruction& instruction) {
  if (instruction.source_line == 0) return "";
  const size_t slash = instruction.source_file.rfind('/');
  return fmt::format("{}:{}",
                     slash == std::string::npos ? instruction.source_file
                                                : instruction.source_file.substr(slash + 1),
                     instruction.source_line);
}

Json to_json(const Options& options, const Inspection& inspection) {
  Json instructions = Json::array();
  for (const judge::StaticInstruction& one : inspection.use.architecture) {
    instructions.push_back({{"group", one.group},
                            {"opcode", one.opcode},
                            {"function", one.function},
                            {"ptx_line", one.ptx_line},
                            {"source_file", one.source_file},
                            {"source_line", one.source_line}});
  }
  return {{"kernel", options.kernel},
          {"virtual_arch", inspection.use.virtual_arch},
          {"instruction_counts", inspection.use.instruction_counts},
          {"architecture_counts", inspection.use.architecture_counts},
          {"architecture", std::move(instructions)},
          {"compiler_notes", inspection.compiler_notes}};
}

int inspect(const Options& options) {
  Inspection inspection;
  if (const std::optional<Problem> problem = inspect_file(options, inspection))
    return fail(problem->error, problem->exit_code);
  if (options.support) return inspect_support(inspection.ptx, options.kernel, options.json);
  if (options.json) {
    print_json(to_json(options, inspection));
    return kPassed;
  }
  std::vector<Row> rows = {{"group", "source", "PTX line", "function", "opcode"}};
  for (const judge::StaticInstruction& one : inspection.use.architecture) {
    rows.push_back({one.group, place(one), std::to_string(one.ptx_line), one.function.substr(0, 32),
                    one.opcode});
  }
  print(fmt::format("{} for {}\n", options.kernel, inspection.use.virtual_arch));
  if (rows.size() == 1)
    print("No instruction that belongs to an architecture.\n");
  else
    print(table(rows));
  for (const auto& [group, count] : inspection.use.architecture_counts)
    print(fmt::format("{} {}  ", count, group));
  print("\nStatic use only: whether these execute is what `ptxbench eval` counts.\n");
  for (const std::string& note : inspection.compiler_notes) print("compiler: " + note + "\n");
  return kPassed;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("inspect", "Shows the architecture's instructions in a kernel, by line");
  verb->footer(
      "Examples:\n  ptxbench inspect kernels/hopper/gemm_wgmma.cu\n  ptxbench inspect kernel.ptx "
      "--json\n  ptxbench inspect --support kernel.ptx");
  verb->add_option("kernel", options->kernel, "A .cu or .ptx file")->required();
  verb->add_option("--source-root", options->source_root,
                   "Folder that the kernel may include from (default: the parent of its own)");
  verb->add_flag("--support", options->support,
                 "Instead, list every instruction that the emulator does not execute; exit code 1 "
                 "when there is one");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([options, &exit_code] { exit_code = inspect(*options); });
}

}  // namespace weft::ptxbench
