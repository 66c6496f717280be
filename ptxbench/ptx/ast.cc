// SPDX-License-Identifier: Apache-2.0

// What an instruction answers about itself.
#include "ptxbench/ptx/ast.h"

#include <algorithm>

namespace weft::ptx {

const Operand& Operands::missing() {
  static const Operand empty{ListOperand{}, {}};
  return empty;
}

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string Instruction::spelling() const {
  std::string text(opcode);
  for (const std::string_view modifier : modifiers) {
    text += '.';
    text += modifier;
  }
  return text;
}

}  // namespace weft::ptx
