// SPDX-License-Identifier: Apache-2.0

// Which chapter an arithmetic instruction belongs to, by its types and modifiers.

#include "ptxbench/emulator/ops/arithmetic_dispatch.h"

#include "ptxbench/emulator/ops/lane_handlers.h"

namespace weft::emulator {

namespace {

bool is_half(isa::Type type) {
  return type == isa::Type::F16 || type == isa::Type::F16x2 || type == isa::Type::Bf16 ||
         type == isa::Type::Bf16x2;
}

bool is_function(std::string_view opcode) {
  for (std::string_view name : {"rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"})
    if (opcode == name) return true;
  return false;
}

}  // namespace

Result<Done> arithmetic(Lowering& lowering, const ptx::Instruction& instruction) {
  const isa::Type type = first_type(instruction);
  if (is_half(type)) return half_arithmetic(lowering, instruction);
  if (is_function(instruction.opcode)) return float_functions(lowering, instruction);
  if (type == isa::Type::F32 && instruction.types.size() > 1 && is_half(instruction.types[1]))
    return mixed_arithmetic(lowering, instruction);
  if (isa::is_float(type)) return float_arithmetic(lowering, instruction);
  const std::string_view opcode = instruction.opcode;
  if (instruction.has("cc") || opcode == "addc" || opcode == "subc" || opcode == "madc")
    return extended_arithmetic(lowering, instruction);
  return integer_arithmetic(lowering, instruction);
}

}  // namespace weft::emulator
