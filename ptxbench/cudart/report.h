// SPDX-License-Identifier: Apache-2.0

// The report of what ran: per kernel and PTX instruction, with the fault if there was one. Written
// to the file that WEFT_EMULATE_REPORT names, as weft.emulate.report.v1.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ptxbench/emulator/fault.h"
#include "ptxbench/emulator/machine.h"

namespace weft::cudart {

struct KernelRuns {
  uint64_t launches = 0;
  double seconds = 0;  // host time inside the launches
};
using RunsByKernel = std::map<std::string, KernelRuns>;

// Adds what a program executed since it was loaded. Call once, before the program is dropped.
void keep_counts(const emulator::Program& program, const RunsByKernel& runs);
void report_fault(const emulator::Fault& fault);

// Writes the file, if one is wanted: finished programs, those still loaded, the fault.
void write_report();

}  // namespace weft::cudart
