// SPDX-License-Identifier: Apache-2.0

// The paths through a function's text, and which registers instructions read and write: what
// questions about whole functions are answered with.
//
// A path is what one thread may execute. Indirect branches may go to every label of the function's
// lists; calls return.
#pragma once

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

// Registers, by index, that some path reads before it has written them. Others may begin with
// anything.
std::vector<bool> read_before_written(const ptx::Function& function);

}  // namespace weft::emulator
