// SPDX-License-Identifier: Apache-2.0

// multimem (PTX ISA 9.0, 9.7.9.14): an address that stands for one place on every device of a
// group. The emulated device is alone in its group, so there is one place: ld_reduce reduces one
// value, which is itself, and st and red touch what st and red touch.
#pragma once

#include "base/result.h"
#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

// multimem.red, which the atomics carry out (ops/atomics.cc).
Result<Done> lower_multimem_reduction(Lowering& l, const ptx::Instruction& i);

}  // namespace weft::emulator
