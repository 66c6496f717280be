// SPDX-License-Identifier: Apache-2.0

// A module as PTX text. Parsing the text gives the same program; blanks, comments, debug sections
// and the spelling of numbers are the printer's own.
#pragma once

#include <string>

#include "ptxbench/ptx/ast.h"

namespace weft::ptx {

std::string print(const Module& module);

// One instruction or operand, as messages show it: "ld.global.u32 %r1, [%rd2+4]".
std::string print(const Function& function, const Instruction& instruction);
std::string print(const Function& function, const Operand& operand);

}  // namespace weft::ptx
