// SPDX-License-Identifier: Apache-2.0

// The deadlock report: who waits, for what, and what that lacks.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/mbarrier.h"
#include "ptxbench/emulator/scheduler.h"
#include "ptxbench/emulator/tensor_memory.h"

namespace weft::emulator {

namespace {

std::string describe_wait(const Block& block, const Split& s) {
  switch (s.wait) {
    case Split::Wait::NamedBarrier: {
      const NamedBarrier& b = block.barriers[s.wait_object & 15];
      uint32_t arrived = 0;
      for (size_t w = 0; w < block.warps.size(); ++w)
        if (b.arrived[w] != 0)
          arrived += static_cast<uint32_t>(std::popcount(b.arrived[w] | ~block.warps[w]->live));
      return fmt::format("waits at barrier {}: {} of {} threads have arrived", s.wait_object,
                         arrived, b.expected == 0 ? block.threads : b.expected);
    }
    case Split::Wait::ClusterBarrier:
      return fmt::format("waits at the cluster barrier, phase {}", block.cluster->barrier_phase);
    case Split::Wait::Mbarrier: {
      std::string_view why;
      const BarrierPlace place =
          find_barrier(const_cast<Block&>(block), isa::Space::SharedCluster, s.wait_object, why);
      return fmt::format("waits for the phase of parity {} of {}", s.wait_detail,
                         place.word == nullptr ? std::string(why) : describe_barrier(place));
    }
    case Split::Wait::AsyncGroup:
      return fmt::format("waits for asynchronous copies, {} groups may be pending", s.wait_detail);
    case Split::Wait::WarpSync:
      return fmt::format("waits for lanes {:#010x} of its warp", s.wait_object);
    case Split::Wait::Warpgroup:
      return "waits for the other warps of its warpgroup to issue the same wgmma";
    case Split::Wait::Other:
      return fmt::format("waits for {} columns of tensor memory, {} of {} are taken", s.wait_object,
                         s.wait_detail, kTensorColumns);
    default:
      return s.waiting || s.stalled ? "waits" : "runs";
  }
}

const ptx::Instruction* instruction_at(const Split& s) {
  const FunctionCode& code = *s.frame->code;
  uint32_t pc = s.pc;
  if (s.waiting && pc > 0) --pc;  // blocked lanes are already past their op
  if (pc >= code.ops.size() || code.ops[pc].instruction >= code.instructions.size()) return nullptr;
  return code.instructions[code.ops[pc].instruction];
}

std::string ranges(const std::vector<uint32_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    if (!text.empty()) text += ", ";
    text += i == j ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[j]);
    i = j + 1;
  }
  return text;
}

}  // namespace

Fault describe_deadlock(Cluster& cluster) {
  Fault fault;
  fault.kind = FaultKind::Deadlock;
  fault.kernel = cluster.grid->kernel->info.name;
  const ptx::Module& module = *cluster.grid->kernel->program->module_;
  bool first = true;
  for (const auto& block : cluster.blocks) {
    // Warps that wait for the same thing at the same place share a line.
    std::map<std::pair<std::string, uint32_t>, std::vector<uint32_t>> groups;
    for (const auto& warp : block->warps)
      for (const Split& s : warp->splits) {
        const ptx::Instruction* at = instruction_at(s);
        auto& list = groups[{describe_wait(*block, s), at == nullptr ? 0 : at->position.line}];
        if (list.empty() || list.back() != warp->index) list.push_back(warp->index);
        if (first && at != nullptr) {
          first = false;
          fault.block = {block->index.x, block->index.y, block->index.z};
          fault.warp = warp->index;
          fault.lane = static_cast<uint32_t>(first_lane(s.mask));
          warp->thread_index(first_lane(s.mask), fault.thread[0], fault.thread[1], fault.thread[2]);
          fault.ptx_line = at->position.line;
          fault.instruction = line_of_text(module, at->position.line);
          fault.instruction.erase(0, fault.instruction.find_first_not_of(" \t"));
          fault.source_line = at->line.line;
          for (const ptx::SourceFile& file : module.files)
            if (file.index == at->line.file && at->line.line != 0) fault.source_file = file.path;
        }
      }
    for (const auto& [what, warps] : groups) {
      std::string line =
          fmt::format("block ({},{},{}) warp{} {}: {}", block->index.x, block->index.y,
                      block->index.z, warps.size() == 1 ? "" : "s", ranges(warps), what.first);
      if (what.second != 0) line += fmt::format(" (ptx line {})", what.second);
      fault.notes.push_back(std::move(line));
    }
    std::vector<uint32_t> gone;
    for (const auto& warp : block->warps)
      if (warp->finished()) gone.push_back(warp->index);
    if (!gone.empty())
      fault.notes.push_back(fmt::format("block ({},{},{}) warp{} {}: exited", block->index.x,
                                        block->index.y, block->index.z, gone.size() == 1 ? "" : "s",
                                        ranges(gone)));
  }
  fault.message = "every thread of the block waits and nothing can arrive any more";
  return fault;
}

}  // namespace weft::emulator
