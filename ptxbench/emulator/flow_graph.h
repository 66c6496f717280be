// SPDX-License-Identifier: Apache-2.0

// The paths through a function's text, and which registers instructions read and write: what
// questions about whole functions are answered with.
//
// A path is what one thread may execute. Indirect branches may go to every label of the function's
// lists; calls return.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "ptxbench/ptx/ast.h"

namespace weft::emulator {

// Instructions that follow each other without a label or a branch between them.
struct FlowBlock {
  std::vector<const ptx::Instruction*> instructions;
  std::vector<uint32_t> next;  // blocks that may come after this one
};

// [0] is where the function begins.
std::vector<FlowBlock> flow_blocks(const ptx::Function& function);

// Calls f(register index) for every register in the operand.
template <typename F>
void each_register(const ptx::Operand& operand, const F& f) {
  const auto all = [&](const std::vector<ptx::Operand>& parts) {
    for (const ptx::Operand& part : parts) each_register(part, f);
  };
  if (const auto* r = std::get_if<ptx::RegisterOperand>(&operand.value)) f(r->index);
  if (const auto* v = std::get_if<ptx::VectorOperand>(&operand.value)) all(v->elements);
  if (const auto* a = std::get_if<ptx::AddressOperand>(&operand.value)) all(a->parts);
  if (const auto* p = std::get_if<ptx::PairOperand>(&operand.value)) all(p->elements);
  if (const auto* l = std::get_if<ptx::ListOperand>(&operand.value)) all(l->elements);
}

// Whether the instruction has results, in operand 0, that it does not read. False when in doubt.
bool writes_first_operand(const ptx::Instruction& instruction);

// Some of a function's registers, by index.
class RegisterSet {
 public:
  explicit RegisterSet(size_t registers) : words_((registers + 63) / 64) {}
  void add(uint32_t r) { words_[r / 64] |= bit(r); }
  bool holds(uint32_t r) const { return (words_[r / 64] & bit(r)) != 0; }
  // Adds the registers of `other` that are not in `without`; whether any was new.
  bool add_all(const RegisterSet& other, const RegisterSet& without);
  // Calls f(register index) for each.
  template <typename F>
  void each(const F& f) const {
    for (size_t w = 0; w < words_.size(); ++w)
      for (uint64_t left = words_[w]; left != 0; left &= left - 1)
        f(static_cast<uint32_t>(w * 64) + static_cast<uint32_t>(std::countr_zero(left)));
  }

 private:
  static uint64_t bit(uint32_t r) { return uint64_t{1} << (r % 64); }
  std::vector<uint64_t> words_;
};

// By block: the registers that some path from its start reads before it has written them.
std::vector<RegisterSet> alive_at_start(const ptx::Function& function,
                                        const std::vector<FlowBlock>& blocks);

// What is alive where the function begins. Other registers may begin with anything.
RegisterSet read_before_written(const ptx::Function& function);

}  // namespace weft::emulator
