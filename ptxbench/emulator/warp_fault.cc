// SPDX-License-Identifier: Apache-2.0

// Turns what is known about a fault's place (instruction, warp, lane) into the words of the report.

#include <string_view>
#include <utility>

#include "ptxbench/emulator/block.h"
#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/warp.h"
#include "ptxbench/ptx/ast.h"

namespace weft::emulator {

namespace {

// Line `number` (from 1) of a text, without indentation.
std::string line_of(std::string_view text, uint32_t number) {
  for (uint32_t line = 1; line < number; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string() : std::string(text.substr(first));
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
  if (module.text) fault.instruction = line_of(*module.text, fault.ptx_line);
  fault.source_line = instruction.line.line;
  for (const ptx::SourceFile& file : module.files)
    if (file.index == instruction.line.file && instruction.line.line != 0)
      fault.source_file = file.path;
  fault.address = address;
  fault.notes = std::move(notes);
  grid.record(std::move(fault));
}

}  // namespace weft::emulator
