// SPDX-License-Identifier: Apache-2.0

// Turns what is known about a fault's place (instruction, warp, lane) into the words of the report.

#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

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

std::string path_of(const ptx::Module& module, uint32_t number) {
  for (const ptx::SourceFile& file : module.files)
    if (file.index == number) return file.path;
  return {};
}

// The .loc in force at the instruction; nullptr without one.
const ptx::LocStatement* loc_of(const ptx::Module& module, const ptx::Instruction& instruction) {
  for (const ptx::Function& function : module.functions) {
    const ptx::LocStatement* last = nullptr;
    for (const ptx::Statement& statement : function.body) {
      if (const auto* loc = std::get_if<ptx::LocStatement>(&statement)) last = loc;
      if (std::get_if<ptx::Instruction>(&statement) == &instruction) return last;
    }
  }
  return nullptr;
}

// "inlined at k.cu:140": the caller's line, where the instruction's own lies in an inlined
// function. `.loc` says "function_name label, inlined_at file line column".
std::string inlined_at(const ptx::Module& module, const ptx::Instruction& instruction) {
  const ptx::LocStatement* loc = loc_of(module, instruction);
  if (loc == nullptr) return {};
  constexpr std::string_view kWord = "inlined_at ";
  const size_t at = loc->inlined_at.find(kWord);
  if (at == std::string::npos) return {};
  const char* text = loc->inlined_at.data() + at + kWord.size();
  const char* end = loc->inlined_at.data() + loc->inlined_at.size();
  uint32_t file = 0, line = 0;
  const auto first = std::from_chars(text, end, file);
  if (first.ec != std::errc() || first.ptr == end) return {};
  if (std::from_chars(first.ptr + 1, end, line).ec != std::errc()) return {};
  const std::string path = path_of(module, file);
  return path.empty() ? std::string() : fmt::format("inlined at {}:{}", path, line);
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
  if (instruction.line.line != 0) fault.source_file = path_of(module, instruction.line.file);
  fault.address = address;
  if (std::string caller = inlined_at(module, instruction); !caller.empty())
    notes.insert(notes.begin(), std::move(caller));
  fault.notes = std::move(notes);
  grid.record(std::move(fault));
}

}  // namespace weft::emulator
