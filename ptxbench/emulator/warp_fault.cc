// SPDX-License-Identifier: Apache-2.0

// Turns what is known about a fault's place (instruction, warp, lane) into the words of the report.

#include <string>
#include <utility>

#include "ptxbench/emulator/block.h"
#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/warp.h"
#include "ptxbench/ptx/ast.h"

namespace weft::emulator {

namespace {

std::string without_indentation(std::string line) {
  line.erase(0, line.find_first_not_of(" \t"));
  return line;
}

}  // namespace

void Warp::record_fault(const ptx::Instruction& instruction, int lane, FaultKind kind,
                        std::string message, uint64_t address, std::vector<std::string> notes) {
  GridRun& grid = *block->grid;
  const ptx::Module& module = grid.kernel->program->module();
  Fault fault;
  fault.kind = kind;
  fault.message = std::move(message);
  fault.kernel = grid.kernel->info.name;
  fault.block = {block->index.x, block->index.y, block->index.z};
  thread_index(lane, fault.thread[0], fault.thread[1], fault.thread[2]);
  fault.warp = index;
  fault.lane = static_cast<uint32_t>(lane);
  fault.ptx_line = instruction.position.line;
  fault.instruction = without_indentation(line_of_text(module, fault.ptx_line));
  fault.source_line = instruction.line.line;
  for (const ptx::SourceFile& file : module.files)
    if (file.index == instruction.line.file && instruction.line.line != 0)
      fault.source_file = file.path;
  fault.address = address;
  fault.notes = std::move(notes);
  grid.record(std::move(fault));
}

}  // namespace weft::emulator
