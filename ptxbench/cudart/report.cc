// SPDX-License-Identifier: Apache-2.0

// The rows are gathered when a program is dropped and when the file is written, so that launches
// pay nothing for the report.
#include "ptxbench/cudart/report.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ptxbench/cudart/module.h"
#include "ptxbench/cudart/process.h"

namespace weft::cudart {
namespace {

using Json = nlohmann::ordered_json;

struct KernelRow {
  KernelRuns runs;
  std::vector<Json> instructions;
};
using Rows = std::map<std::string, KernelRow>;

struct Kept {
  std::mutex mutex;
  Rows finished;
  std::optional<emulator::Fault> fault;
};

Kept& kept() {
  static Kept& instance = *new Kept;
  return instance;
}

// Finds the function that an instruction stands in: its address lies inside the body.
const ptx::Function* owner(const ptx::Module& module, const ptx::Instruction* instruction) {
  for (const ptx::Function& function : module.functions) {
    const auto* begin = reinterpret_cast<const std::byte*>(function.body.data());
    const auto* end = begin + function.body.size() * sizeof(ptx::Statement);
    const auto* at = reinterpret_cast<const std::byte*>(instruction);
    if (at >= begin && at < end) return &function;
  }
  return nullptr;
}

std::string source_file(const ptx::Module& module, uint32_t index) {
  for (const ptx::SourceFile& file : module.files)
    if (file.index == index) return file.path;
  return {};
}

void add(Rows& rows, const emulator::Program& program, const RunsByKernel& runs) {
  for (const auto& [name, run] : runs) {
    rows[name].runs.launches += run.launches;
    rows[name].runs.seconds += run.seconds;
  }
  const ptx::Module& module = program.module();
  for (const emulator::InstructionCount& count : program.counts()) {
    if (count.warps == 0 || count.instruction == nullptr) continue;
    const ptx::Instruction& instruction = *count.instruction;
    const ptx::Function* function = owner(module, &instruction);
    rows[function ? function->name : "(device functions)"].instructions.push_back(
        {{"opcode", instruction.spelling()},
         {"ptx_line", instruction.position.line},
         {"source_file", source_file(module, instruction.line.file)},
         {"source_line", instruction.line.line},
         {"warps", count.warps},
         {"lanes", count.lanes}});
  }
}

Json to_json(const emulator::Fault& fault) {
  return {{"kind", emulator::name(fault.kind)},
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
          {"text", emulator::format(fault)}};
}

}  // namespace

void keep_counts(const emulator::Program& program, const RunsByKernel& runs) {
  const std::lock_guard lock(kept().mutex);
  add(kept().finished, program, runs);
}

void report_fault(const emulator::Fault& fault) {
  const std::lock_guard lock(kept().mutex);
  kept().fault = fault;
}

void write_report() {
  const char* path = std::getenv("WEFT_EMULATE_REPORT");
  if (path == nullptr || *path == '\0') return;
  Rows rows;
  Json fault = nullptr;
  {
    const std::lock_guard lock(kept().mutex);
    rows = kept().finished;
    if (kept().fault) fault = to_json(*kept().fault);
  }
  each_loaded_program([&](const emulator::Program& program, const RunsByKernel& runs) {
    add(rows, program, runs);
  });

  Json kernels = Json::array();
  for (auto& [name, row] : rows)
    kernels.push_back({{"name", name},
                       {"launches", row.runs.launches},
                       {"instructions", std::move(row.instructions)},
                       {"seconds", row.runs.seconds}});
  const Json report = {{"schema", "weft.emulate.report.v1"},
                       {"device", model().key},
                       {"kernels", std::move(kernels)},
                       {"fault", std::move(fault)}};
  // Names come from the program and need not be UTF-8.
  const std::string text = report.dump(1, ' ', false, Json::error_handler_t::replace);
  const std::string partial = std::string(path) + ".partial";
  std::ofstream file(partial, std::ios::binary);
  file << text << '\n';
  file.close();
  if (!file || std::rename(partial.c_str(), path) != 0)
    complain(fmt::format("cannot write the report: {}", path));
}

}  // namespace weft::cudart
