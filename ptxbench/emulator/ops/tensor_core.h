// SPDX-License-Identifier: Apache-2.0

// What the files of tcgen05 share.
#pragma once

#include <optional>
#include <string_view>

#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/tensor_memory.h"

namespace weft::emulator {

struct AddressPlace final : Extra {
  Address address;
};

// The address of tensor memory that all lanes give; nothing after a fault.
std::optional<uint32_t> tensor_operand(Warp& warp, const Op& op, const Address& address);

// The program uses tensor memory that work under way reads or writes: "written", "read".
Outcome in_flight_fault(Warp& warp, const Op& op, const TensorMemory::InFlight& under_way,
                        std::string_view verb);

std::span<const Meaning> tensor_memory_meanings();

// tcgen05.mma (ops/tensor_mma.cc).
Result<Done> lower_tensor_mma(Lowering& l, const ptx::Instruction& i);

// tcgen05.cp (ops/tensor_memory_copy.cc).
Result<Done> lower_tensor_memory_copy(Lowering& l, const ptx::Instruction& i);

}  // namespace weft::emulator
