// SPDX-License-Identifier: Apache-2.0

// Cluster forms of opcodes that other chapters own.
#pragma once

#include "base/result.h"
#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

// barrier.cluster.arrive and barrier.cluster.wait.
Result<Done> lower_cluster_barrier(Lowering& l, const ptx::Instruction& i);

}  // namespace weft::emulator
