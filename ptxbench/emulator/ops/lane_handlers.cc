// SPDX-License-Identifier: Apache-2.0

// Operand fetching shared by the chapters whose instructions are functions on values.

#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

Result<Done> emit_values(Lowering& lowering, const ptx::Instruction& instruction, Handler handler,
                         isa::Type destination, std::initializer_list<isa::Type> sources,
                         uint32_t small) {
  if (handler == nullptr) return no_such_form(lowering, instruction);
  if (instruction.operands.size() != sources.size() + 1)
    return lowering.error("wrong number of operands for " + instruction.spelling());
  Slot slots[3] = {kNoSlot, kNoSlot, kNoSlot};
  size_t index = 0;
  for (isa::Type type : sources) {
    slots[index] = TRY(lowering.source(instruction.operands[index + 1], type));
    ++index;
  }
  const Slot result = TRY(lowering.destination(instruction.operands[0], destination));
  Op& op = lowering.emit(handler);
  op.d = result;
  op.a = slots[0];
  op.b = slots[1];
  op.c = slots[2];
  op.small = small;
  return Done{};
}

Result<Done> emit_uniform(Lowering& lowering, const ptx::Instruction& instruction, Handler handler,
                          isa::Type type, uint32_t small) {
  switch (instruction.operands.size()) {
    case 2:
      return emit_values(lowering, instruction, handler, type, {type}, small);
    case 3:
      return emit_values(lowering, instruction, handler, type, {type, type}, small);
    default:
      return emit_values(lowering, instruction, handler, type, {type, type, type}, small);
  }
}

Error no_such_form(Lowering& lowering, const ptx::Instruction& instruction) {
  return lowering.error("no such form of the instruction: " + instruction.spelling());
}

isa::Type first_type(const ptx::Instruction& instruction) {
  return instruction.types.empty() ? isa::Type::None : instruction.types.front();
}

}  // namespace weft::emulator
