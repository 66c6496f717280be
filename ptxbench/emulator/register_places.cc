// SPDX-License-Identifier: Apache-2.0

// A linear scan over the intervals from first to last position at which a register is alive
// (flow_graph.h). Threads are looked at one by one: a place has room for every lane, and no plain
// instruction writes lanes that are not active, so divergence changes nothing.

#include "ptxbench/emulator/register_places.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>

#include "ptxbench/emulator/flow_graph.h"
#include "ptxbench/isa/types.h"

namespace weft::emulator {

namespace {

// Positions, counted by instructions.
struct Interval {
  uint32_t reg = 0;
  size_t first = SIZE_MAX, last = 0;
};

// By register: whether it takes part.
std::vector<bool> candidates(const ptx::Function& function, const std::vector<FlowBlock>& blocks) {
  std::vector<bool> candidate(function.registers.size());
  for (size_t r = 0; r < candidate.size(); ++r) {
    const ptx::Register& declared = function.registers[r];
    candidate[r] = declared.vector_width == 1 && isa::bits(declared.type) >= 16;
  }
  for (const FlowBlock& block : blocks)
    for (const ptx::Instruction* i : block.instructions)
      if (!is_plain(*i))
        for (const ptx::Operand& operand : i->operands)
          each_register(operand, [&](uint32_t r) { candidate[r] = false; });
  return candidate;
}

// One for each register that takes part and occurs.
std::vector<Interval> intervals(const ptx::Function& function) {
  const std::vector<FlowBlock> blocks = flow_blocks(function);
  const std::vector<RegisterSet> alive = alive_at_start(function, blocks);
  std::vector<Interval> all(function.registers.size());
  for (uint32_t r = 0; r < all.size(); ++r) all[r].reg = r;
  const auto touch = [&](uint32_t r, size_t position) {
    all[r].first = std::min(all[r].first, position);
    all[r].last = std::max(all[r].last, position);
  };
  size_t position = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].instructions.empty()) continue;  // has no position
    alive[b].each([&](uint32_t r) { touch(r, position); });
    for (const ptx::Instruction* i : blocks[b].instructions) {
      for (const ptx::Operand& operand : i->operands)
        each_register(operand, [&](uint32_t r) { touch(r, position); });
      ++position;
    }
    for (const uint32_t next : blocks[b].next)
      alive[next].each([&](uint32_t r) { touch(r, position - 1); });
  }
  const std::vector<bool> candidate = candidates(function, blocks);
  std::erase_if(all, [&](const Interval& i) { return !candidate[i.reg] || i.first > i.last; });
  return all;
}

}  // namespace

bool is_plain(const ptx::Instruction& i) {
  static const std::unordered_set<std::string_view> opcodes = {
      "abs",  "add",  "addc",  "and",  "atom",     "bfe",      "bfi",  "bfind", "bmsk",
      "bra",  "brev", "clz",   "cnot", "copysign", "cos",      "cvt",  "cvta",  "div",
      "dp2a", "dp4a", "ex2",   "fma",  "fns",      "isspacep", "ld",   "ldu",   "lg2",
      "lop3", "mad",  "mad24", "madc", "max",      "min",      "mov",  "mul",   "mul24",
      "neg",  "not",  "or",    "popc", "prmt",     "rcp",      "red",  "rem",   "rsqrt",
      "sad",  "selp", "set",   "setp", "shf",      "shfl",     "shl",  "shr",   "sin",
      "slct", "sqrt", "st",    "sub",  "subc",     "szext",    "tanh", "testp", "xor"};
  return opcodes.contains(i.opcode) && !i.has("async") && !i.has("bulk");
}

std::vector<uint32_t> register_places(const ptx::Function& function) {
  std::vector<uint32_t> place(function.registers.size());
  for (uint32_t r = 0; r < place.size(); ++r) place[r] = r;
  std::vector<Interval> by_start = intervals(function);
  std::sort(by_start.begin(), by_start.end(),
            [](const Interval& a, const Interval& b) { return a.first < b.first; });
  // By width: places whose register is alive, by the end of its life, and places that are free.
  std::map<int, std::multimap<size_t, uint32_t>> taken;
  std::map<int, std::vector<uint32_t>> free;
  for (const Interval& i : by_start) {
    const int bits = isa::bits(function.registers[i.reg].type);
    auto& in_use = taken[bits];
    auto& unused = free[bits];
    // An instruction's result does not take the place of what it reads: some write one result
    // before they have read everything.
    while (!in_use.empty() && in_use.begin()->first < i.first) {
      unused.push_back(in_use.begin()->second);
      in_use.erase(in_use.begin());
    }
    if (!unused.empty()) {
      place[i.reg] = unused.back();
      unused.pop_back();
    }
    in_use.emplace(i.last, place[i.reg]);
  }
  return place;
}

}  // namespace weft::emulator
