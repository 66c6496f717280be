// SPDX-License-Identifier: Apache-2.0

// Liveness over basic blocks, then a linear scan over the intervals from first to last position at
// which a register is alive. Threads are looked at one by one: a place has room for every lane, and
// no plain instruction writes lanes that are not active, so divergence changes nothing.

#include "ptxbench/emulator/register_places.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <unordered_set>

#include "ptxbench/isa/types.h"

namespace weft::emulator {

namespace {

// Operand 0 is written, the others are read, all before the warp goes on.
bool writes_first_operand(std::string_view opcode) {
  static const std::unordered_set<std::string_view> opcodes = {
      "abs", "add",   "addc",     "and",   "atom", "bfe",   "bfi",  "bfind", "bmsk", "brev",
      "clz", "cnot",  "copysign", "cos",   "cvt",  "cvta",  "div",  "dp2a",  "dp4a", "ex2",
      "fma", "fns",   "ld",       "ldu",   "lg2",  "lop3",  "mad",  "mad24", "madc", "max",
      "min", "mov",   "mul",      "mul24", "neg",  "not",   "or",   "popc",  "prmt", "rcp",
      "rem", "rsqrt", "sad",      "selp",  "set",  "setp",  "shf",  "shfl",  "shl",  "shr",
      "sin", "slct",  "sqrt",     "sub",   "subc", "szext", "tanh", "testp", "xor",  "isspacep"};
  return opcodes.contains(opcode);
}

// Every operand is read.
bool only_reads(std::string_view opcode) {
  return opcode == "st" || opcode == "red" || opcode == "bra";
}

template <typename F>
void for_registers(const ptx::Operand& operand, F&& f) {
  auto each = [&](const std::vector<ptx::Operand>& list) {
    for (const ptx::Operand& element : list) for_registers(element, f);
  };
  if (const auto* r = std::get_if<ptx::RegisterOperand>(&operand.value)) f(r->index);
  if (const auto* v = std::get_if<ptx::VectorOperand>(&operand.value)) each(v->elements);
  if (const auto* a = std::get_if<ptx::AddressOperand>(&operand.value)) each(a->parts);
  if (const auto* p = std::get_if<ptx::PairOperand>(&operand.value)) each(p->elements);
  if (const auto* l = std::get_if<ptx::ListOperand>(&operand.value)) each(l->elements);
}

class BitSet {
 public:
  BitSet() = default;
  explicit BitSet(size_t size) : words_((size + 63) / 64) {}
  void set(uint32_t i) { words_[i / 64] |= uint64_t{1} << i % 64; }
  void clear(uint32_t i) { words_[i / 64] &= ~(uint64_t{1} << i % 64); }
  // Adds the other's members; whether any was new.
  bool join(const BitSet& other) {
    uint64_t added = 0;
    for (size_t k = 0; k < words_.size(); ++k) {
      added |= other.words_[k] & ~words_[k];
      words_[k] |= other.words_[k];
    }
    return added != 0;
  }
  template <typename F>
  void for_members(F&& f) const {
    for (size_t k = 0; k < words_.size(); ++k)
      for (uint64_t left = words_[k]; left != 0; left &= left - 1)
        f(static_cast<uint32_t>(k * 64) + static_cast<uint32_t>(std::countr_zero(left)));
  }

 private:
  std::vector<uint64_t> words_;
};

// Positions [first, last) and where control goes after them.
struct BasicBlock {
  size_t first = 0, last = 0;
  std::vector<size_t> next;
  BitSet live_in;
};

struct Interval {
  uint32_t reg = 0;
  size_t first = SIZE_MAX, last = 0;
};

class Liveness {
 public:
  explicit Liveness(const ptx::Function& function) : function_(function) {
    label_positions_.resize(function.labels.size());
    for (const ptx::Statement& s : function.body) {
      if (const auto* i = std::get_if<ptx::Instruction>(&s)) {
        instructions_.push_back(i);
      } else if (const auto* label = std::get_if<ptx::LabelStatement>(&s)) {
        label_positions_[label->index] = instructions_.size();
      }
    }
    find_candidates();
  }

  // One interval for each register that takes part and occurs.
  std::vector<Interval> intervals() {
    make_blocks();
    for (BasicBlock& block : blocks_) block.live_in = BitSet(function_.registers.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = blocks_.size(); b-- > 0;) {
        BitSet live = live_out(blocks_[b]);
        walk(blocks_[b], live, [](uint32_t, size_t) {});
        changed = blocks_[b].live_in.join(live) || changed;
      }
    }
    std::vector<Interval> all(function_.registers.size());
    for (uint32_t r = 0; r < all.size(); ++r) all[r].reg = r;
    auto touch = [&](uint32_t r, size_t position) {
      all[r].first = std::min(all[r].first, position);
      all[r].last = std::max(all[r].last, position);
    };
    for (const BasicBlock& block : blocks_) {
      BitSet live = live_out(block);
      live.for_members([&](uint32_t r) { touch(r, block.last - 1); });
      walk(block, live, touch);
      live.for_members([&](uint32_t r) { touch(r, block.first); });
    }
    std::erase_if(all, [&](const Interval& i) { return !candidate_[i.reg] || i.first > i.last; });
    return all;
  }

 private:
  void find_candidates() {
    candidate_.resize(function_.registers.size());
    for (size_t r = 0; r < candidate_.size(); ++r) {
      const ptx::Register& declared = function_.registers[r];
      candidate_[r] = declared.vector_width == 1 && isa::bits(declared.type) >= 16;
    }
    for (const ptx::Instruction* i : instructions_)
      if (!is_plain(*i))
        for (const ptx::Operand& operand : i->operands)
          for_registers(operand, [&](uint32_t r) { candidate_[r] = false; });
  }

  void make_blocks() {
    const size_t count = instructions_.size();
    std::vector<bool> leads(count + 1, false);
    leads[0] = true;
    for (size_t position : label_positions_) leads[position] = true;
    for (size_t p = 0; p < count; ++p)
      if (ends_block(*instructions_[p])) leads[p + 1] = true;
    block_at_.assign(count + 1, 0);
    for (size_t p = 0; p < count; ++p) {
      if (leads[p]) blocks_.push_back({.first = p, .last = p, .next = {}, .live_in = {}});
      block_at_[p] = blocks_.size() - 1;
      blocks_.back().last = p + 1;
    }
    block_at_[count] = blocks_.size();
    for (size_t b = 0; b < blocks_.size(); ++b) {
      const ptx::Instruction& last = *instructions_[blocks_[b].last - 1];
      const bool leaves = ends_block(last) && !last.guard;
      if (!leaves && b + 1 < blocks_.size()) blocks_[b].next.push_back(b + 1);
      if (last.opcode != "bra") continue;
      const auto* label = std::get_if<ptx::LabelOperand>(&last.operands[0].value);
      const size_t to =
          label == nullptr ? blocks_.size() : block_at_[label_positions_[label->index]];
      if (to < blocks_.size()) blocks_[b].next.push_back(to);
    }
  }

  static bool ends_block(const ptx::Instruction& i) {
    return i.opcode == "bra" || i.opcode == "ret" || i.opcode == "exit" || i.opcode == "trap";
  }

  BitSet live_out(const BasicBlock& block) const {
    BitSet live(function_.registers.size());
    for (size_t next : block.next) live.join(blocks_[next].live_in);
    return live;
  }

  // Goes through the block backwards: `live` is what is alive after it and becomes what is alive
  // before. Calls occurs(register, position) for every place where one is read or written.
  template <typename F>
  void walk(const BasicBlock& block, BitSet& live, F&& occurs) const {
    for (size_t p = block.last; p-- > block.first;) {
      const ptx::Instruction& i = *instructions_[p];
      const bool writes = writes_first_operand(i.opcode);
      for (size_t k = 0; k < i.operands.size(); ++k)
        for_registers(i.operands[k], [&](uint32_t r) {
          occurs(r, p);
          // A guarded write leaves the old value in some threads. An address is read.
          if (k == 0 && writes && !i.guard && is_plain(i)) live.clear(r);
        });
      for (size_t k = writes ? 1 : 0; k < i.operands.size(); ++k)
        for_registers(i.operands[k], [&](uint32_t r) { live.set(r); });
    }
  }

  const ptx::Function& function_;
  std::vector<const ptx::Instruction*> instructions_;
  std::vector<size_t> label_positions_;  // by label: the instruction that follows it
  std::vector<bool> candidate_;          // by register
  std::vector<BasicBlock> blocks_;
  std::vector<size_t> block_at_;  // by position
};

bool has_computed_branches(const ptx::Function& function) {
  return std::any_of(function.body.begin(), function.body.end(), [](const ptx::Statement& s) {
    const auto* i = std::get_if<ptx::Instruction>(&s);
    return i != nullptr && i->opcode == "brx";
  });
}

}  // namespace

bool is_plain(const ptx::Instruction& i) {
  if (i.has("async") || i.has("bulk")) return false;
  return writes_first_operand(i.opcode) || only_reads(i.opcode);
}

std::vector<uint32_t> register_places(const ptx::Function& function) {
  std::vector<uint32_t> place(function.registers.size());
  for (uint32_t r = 0; r < place.size(); ++r) place[r] = r;
  if (has_computed_branches(function)) return place;
  std::vector<Interval> intervals = Liveness(function).intervals();
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.first < b.first; });
  // By width: places whose register is alive, by the end of its life, and places that are free.
  std::map<int, std::multimap<size_t, uint32_t>> taken;
  std::map<int, std::vector<uint32_t>> free;
  for (const Interval& i : intervals) {
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
