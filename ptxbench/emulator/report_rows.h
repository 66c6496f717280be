// SPDX-License-Identifier: Apache-2.0

// What weft.emulate.report.v1 says of instructions and of a fault. A process writes that report of
// itself, and the judge's replay writes it of a recording.
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "ptxbench/emulator/fault.h"
#include "ptxbench/emulator/machine.h"

namespace weft::emulator {

// The instructions that executed, an array for each function that they stand in.
std::map<std::string, Json> executed_instructions(const Program& program);

Json to_json(const Fault& fault);

}  // namespace weft::emulator
