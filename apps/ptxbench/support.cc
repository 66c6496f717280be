// SPDX-License-Identifier: Apache-2.0

#include "apps/ptxbench/support.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/ptxbench/console.h"
#include "apps/ptxbench/verbs.h"
#include "ptxbench/emulator/machine.h"
#include "ptxbench/ptx/parse.h"

namespace weft::ptxbench {
namespace {

std::string source_path(const ptx::Module& module, uint32_t index) {
  for (const ptx::SourceFile& file : module.files)
    if (file.index == index && index != 0) return file.path;
  return "";
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

Json to_json(const ptx::Module& module, const emulator::UnsupportedInstruction& one) {
  return {{"opcode", one.instruction->spelling()},
          {"function", one.function},
          {"ptx_line", one.instruction->position.line},
          {"source_file", source_path(module, one.instruction->line.file)},
          {"source_line", one.instruction->line.line},
          {"why", one.what}};
}

// What cannot be parsed or lowered keeps the whole module from being loaded.
int report_refusal(const Error& error, const std::string& file, bool json) {
  if (!json) return fail(error, kFailed);
  Json refused = Json::array();
  for (const Diagnostic& one : error.diagnostics)
    refused.push_back({{"ptx_line", one.position.line}, {"why", one.message}, {"hint", one.hint}});
  print_json({{"kernel", file},
              {"executes", false},
              {"unsupported", Json::array()},
              {"refused", std::move(refused)}});
  return kFailed;
}

}  // namespace

int inspect_support(const std::string& ptx, const std::string& file, bool json) {
  const auto module = ptx::parse(ptx, file);
  if (!module.ok()) return report_refusal(module.error(), file, json);
  emulator::Machine machine(*emulator::find_device_model("b200"), {});
  const auto program = machine.load(*module);
  if (!program.ok()) return report_refusal(program.error(), file, json);
  const std::vector<emulator::UnsupportedInstruction> missing = (*program)->unsupported();
  const int exit_code = missing.empty() ? kPassed : kFailed;
  if (json) {
    Json all = Json::array();
    for (const auto& one : missing) all.push_back(to_json(**module, one));
    print_json({{"kernel", file},
                {"executes", missing.empty()},
                {"unsupported", std::move(all)},
                {"refused", Json::array()}});
    return exit_code;
  }
  if (missing.empty()) {
    print(fmt::format("{}: the emulator executes every instruction.\n", file));
    return exit_code;
  }
  std::vector<Row> rows = {{"PTX line", "source", "function", "why", "opcode"}};
  for (const auto& one : missing) {
    const auto& line = one.instruction->line;
    rows.push_back(
        {std::to_string(one.instruction->position.line),
         line.line == 0
             ? ""
             : fmt::format("{}:{}", base_name(source_path(**module, line.file)), line.line),
         one.function.substr(0, 32), one.what, one.instruction->spelling()});
  }
  print(table(rows));
  print(
      fmt::format("{} instructions have no meaning in the emulator; one that is reached is a "
                  "fault, the others do no harm.\n",
                  missing.size()));
  return exit_code;
}

}  // namespace weft::ptxbench
