// SPDX-License-Identifier: Apache-2.0

#include "tests/judge/command_line.h"

#include <filesystem>

#include "base/temporary_directory.h"
#include "ptxbench/judge/toolchain.h"

namespace weft::judge_test {
namespace fs = std::filesystem;

Json Ran::json() const {
  const Result<Json> parsed = parse_json(output, "standard output");
  return parsed.ok() ? *parsed : Json();
}

Ran ptxbench(std::vector<std::string> arguments,
             std::vector<std::pair<std::string, std::string>> environment) {
  const TemporaryDirectory scratch = TemporaryDirectory::create("judge_test").value();
  Command command;
  command.arguments = {fs::read_symlink("/proc/self/exe").parent_path() / "ptxbench"};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.extra_environment = std::move(environment);
  command.extra_environment.emplace_back("TMPDIR", scratch.path());
  command.limits.seconds = 1200;
  command.kept_output_bytes = uint64_t{16} << 20;
  const Result<ProcessOutcome> outcome = run(command);
  Ran ran;
  if (!outcome.ok()) {
    ran.errors = format(outcome.error());
    return ran;
  }
  ran.exit_code = outcome->exit_code;
  ran.output = outcome->output;
  ran.errors = outcome->errors;
  for (const auto& entry : fs::directory_iterator(scratch.path()))
    ran.left_behind.push_back(entry.path().filename());
  return ran;
}

std::string candidate(const std::string& name) {
  return "tests/judge/candidates/" + name;
}

std::string missing_for_eval(bool needs_compiler) {
  const judge::Toolchain toolchain = judge::find_toolchain();
  const Result<Done> emulator = judge::require_emulator(toolchain);
  if (!emulator.ok()) return emulator.error().message();
  if (!needs_compiler) return "";
  const Result<Done> compiler = judge::require_nvcc(toolchain);
  return compiler.ok() ? "" : compiler.error().message();
}

}  // namespace weft::judge_test
