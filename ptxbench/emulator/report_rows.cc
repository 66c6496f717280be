// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/report_rows.h"

#include <nlohmann/json.hpp>

namespace weft::emulator {
namespace {

// The function in whose body the instruction lies in memory.
std::string function_of(const ptx::Module& module, const ptx::Instruction* instruction) {
  const auto* at = reinterpret_cast<const std::byte*>(instruction);
  for (const ptx::Function& function : module.functions) {
    const auto* begin = reinterpret_cast<const std::byte*>(function.body.data());
    if (at >= begin && at < begin + function.body.size() * sizeof(ptx::Statement))
      return function.name;
  }
  return "(device functions)";
}

std::string source_file(const ptx::Module& module, uint32_t index) {
  for (const ptx::SourceFile& file : module.files)
    if (file.index == index) return file.path;
  return {};
}

}  // namespace

std::map<std::string, Json> executed_instructions(const Program& program) {
  const ptx::Module& module = program.module();
  std::map<std::string, Json> rows;
  for (const InstructionCount& count : program.counts()) {
    if (count.warps == 0 || count.instruction == nullptr) continue;
    const ptx::Instruction& instruction = *count.instruction;
    Json row = {{"opcode", instruction.spelling()},
                {"ptx_line", instruction.position.line},
                {"source_file", source_file(module, instruction.line.file)},
                {"source_line", instruction.line.line},
                {"warps", count.warps},
                {"lanes", count.lanes}};
    if (count.operations) row["operations"] = *count.operations;
    rows[function_of(module, &instruction)].push_back(std::move(row));
  }
  return rows;
}

Json to_json(const Fault& fault) {
  return {{"kind", name(fault.kind)},
          {"message", fault.message},
          {"kernel", fault.kernel},
          {"block", fault.block},
          {"thread", fault.thread},
          {"ptx_line", fault.ptx_line},
          {"instruction", fault.instruction},
          {"source_file", fault.source_file},
          {"source_line", fault.source_line},
          {"address", fault.address},
          {"notes", fault.notes},
          {"text", format(fault)}};
}

}  // namespace weft::emulator
