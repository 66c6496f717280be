// SPDX-License-Identifier: Apache-2.0

// The machine code of a candidate, as the toolkit's nvdisasm prints it: which instruction lies at
// which offset of which function, and from which source line it comes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ptxbench/judge/toolchain.h"

namespace weft::judge {

struct MachineInstruction {
  std::string opcode;  // with its modifiers: "HGMMA.64x256x16.F32.BF16"
  std::string source_file;
  uint32_t source_line = 0;
};

// By mangled function name and by offset in bytes.
using Disassembly = std::map<std::string, std::map<uint32_t, MachineInstruction>>;

Disassembly parse_disassembly(std::string_view text);

// Of a shared object with embedded machine code, or of a cubin. Works in `folder`, sandboxed.
Result<Disassembly> disassemble(const std::string& object, const Toolchain& toolchain,
                                const std::string& folder);

}  // namespace weft::judge
