// SPDX-License-Identifier: Apache-2.0

// What the emulator says it executed: weft.emulate.report.v1, the file named by
// WEFT_EMULATE_REPORT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/wire/audit.h"

namespace weft::judge {

struct ExecutedInstruction {
  std::string opcode;
  uint32_t ptx_line = 0;
  std::string source_file;
  uint32_t source_line = 0;
  uint64_t warps = 0, lanes = 0;
  uint64_t operations = 0;  // of tcgen05.mma, whose opcode does not tell its shape
};

struct ExecutedKernel {
  std::string name;
  uint64_t launches = 0;
  double seconds = 0;
  std::vector<ExecutedInstruction> instructions;
  std::string module_digest;  // of the PTX that it is part of; empty when unknown
};

struct EmulatorReport {
  std::string device;
  std::vector<ExecutedKernel> kernels;
  std::optional<wire::FaultRecord> fault;
  std::string problem;  // why a repetition ended early; empty: it did not
};

Result<EmulatorReport> read_emulator_report(std::string text, std::string file);

}  // namespace weft::judge
