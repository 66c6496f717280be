// SPDX-License-Identifier: Apache-2.0

// Forms of cp, st, red and tensormap that live in files of their own: the owner of each opcode
// forwards to these.
#pragma once

#include "base/result.h"
#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/memory/access.h"

namespace weft::emulator {

// cp.async.bulk, cp.async.bulk.prefetch, cp.async.bulk.commit_group/wait_group,
// cp.reduce.async.bulk without .tensor (ops/bulk_copy.cc).
Result<Done> lower_bulk_copy(Lowering& l, const ptx::Instruction& i);
// The same with .tensor (ops/tensor_copy.cc).
Result<Done> lower_tensor_copy(Lowering& l, const ptx::Instruction& i);

// st.async, st.bulk, red.async (ops/async_store.cc).
Result<Done> lower_store_async(Lowering& l, const ptx::Instruction& i);
Result<Done> lower_store_bulk(Lowering& l, const ptx::Instruction& i);
Result<Done> lower_reduce_async(Lowering& l, const ptx::Instruction& i);

// The address that a lane means.
inline uint64_t address_of(const Warp& warp, const Address& address, int lane) {
  return lane_address(warp, address.slot, address.wide, address.offset, lane);
}

}  // namespace weft::emulator
