// SPDX-License-Identifier: Apache-2.0

// The PTX of one case, and the operands its threads see.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/gpu/differential/case.h"

namespace weft::differential {

inline constexpr uint32_t kThreads = 2048;  // operands of a case; blocks of 128 threads

// A kernel `run(out, a, b, c)` in which thread i reads 8-byte cell i of each input and writes cell
// i of the output.
std::string program_of(const Case& c, const std::string& target);

// kThreads cells of operand number `which`, the same on every machine.
std::vector<uint64_t> operand_cells(const Case& c, size_t which);

}  // namespace weft::differential
