// SPDX-License-Identifier: Apache-2.0

// Which instructions a PTX text contains, by line: what `ptxbench inspect` shows. Presence proves
// nothing about execution; only the audit's executed counts do.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace weft::judge {

struct StaticInstruction {
  std::string group;   // "wgmma", "tma", "mbarrier", "cluster", "mma", "tcgen05", ...
  std::string opcode;  // whole
  std::string function;
  uint32_t ptx_line = 0;
  std::string source_file;
  uint32_t source_line = 0;
};

struct StaticUse {
  std::string virtual_arch;                             // "compute_90a"
  std::map<std::string, uint64_t> instruction_counts;   // by opcode's first word
  std::map<std::string, uint64_t> architecture_counts;  // by group
  std::vector<StaticInstruction> architecture;          // every instruction of a group, in order
};

Result<StaticUse> static_use(const std::string& ptx, const std::string& file);

}  // namespace weft::judge
