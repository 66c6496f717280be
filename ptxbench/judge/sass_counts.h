// SPDX-License-Identifier: Apache-2.0

// What a GPU counted, joined with what the judge itself disassembled. The counts come from the
// candidate's process; the meaning of an address does not.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/disassembly.h"
#include "ptxbench/judge/emulator_report.h"
#include "ptxbench/judge/operations.h"
#include "ptxbench/judge/sass_count.h"

namespace weft::judge {

// What an instruction of the machine counts for, in the terms of operations_of().
Operations sass_operations_of(std::string_view opcode);
// "wgmma", "tma" or nothing, as target_group() says for PTX.
std::string_view sass_target_group(std::string_view opcode);

// The worker's sass.json: [[function, offset, warps, threads], ...].
Result<std::vector<SassCount>> read_sass_counts(std::string text);
// An address that is not in the candidate's own machine code is an error: code ran that was not
// built.
Result<EmulatorReport> name_instructions(const std::vector<SassCount>& counts,
                                         const Disassembly& code);

}  // namespace weft::judge
