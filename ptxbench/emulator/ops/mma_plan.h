// SPDX-License-Identifier: Apache-2.0

// Prepared operands of mma.sync.
#pragma once

#include <array>
#include <cstddef>

#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/tile/matrix_product.h"

namespace weft::emulator {

enum class MmaSum : uint8_t { F32, F16, S32 };

struct MmaPlan final : Extra {
  MatrixShape shape;
  MmaSum c_sum = MmaSum::F32, d_sum = MmaSum::F32;
  bool saturate = false;
  BitOperation bits = BitOperation::And;
  // Registers in the order of the manual; as many as the shape has.
  std::array<Slot, 8> a{}, b{}, c{}, d{};
  uint8_t a_count = 0, b_count = 0, c_count = 0, d_count = 0;
  // mma.sp: A has half as many registers as its depth asks for.
  Slot metadata = kNoSlot;
  uint8_t first_lane = 0;  // sparse_rows.h
};

// Fills slots from a list of registers of the type; an error when there are not `count`.
Result<Done> register_sources(Lowering& lowering, const ptx::Operand& operand, isa::Type type,
                              int count, std::array<Slot, 8>& slots);
Result<Done> register_destinations(Lowering& lowering, const ptx::Operand& operand, isa::Type type,
                                   int count, std::array<Slot, 8>& slots);

// The sparsity selector of mma.sp and wgmma.sp, as the first lane of each four that holds metadata;
// an error when it is no constant or out of range. `dense_bytes` are those of a row of A.
Result<uint8_t> first_metadata_lane(Lowering& lowering, const ptx::Operand& selector,
                                    TileElement element, int dense_bytes);

}  // namespace weft::emulator
