// SPDX-License-Identifier: Apache-2.0

// From a parsed module to a program that can be launched.
#pragma once

#include <memory>

#include "base/result.h"
#include "ptxbench/emulator/code.h"

namespace weft::emulator {

Result<std::shared_ptr<ProgramImage>> load_program(std::shared_ptr<const ptx::Module> module,
                                                   GlobalMemory& memory, const DeviceModel& model,
                                                   Checks checks);

}  // namespace weft::emulator
