// SPDX-License-Identifier: Apache-2.0

// The 64-bit shared-memory matrix descriptors of wgmma (PTX ISA, "Matrix Descriptor Format"):
// decoded, and turned into the place of every 16-byte row of the operand by the canonical layouts.
#pragma once

#include <cstdint>
#include <string>

#include "ptxbench/emulator/tile/matrix_product.h"
#include "ptxbench/emulator/tile/operand_rows.h"

namespace weft::emulator {

enum class SwizzleMode : uint8_t {
  None,
  Bytes128,
  Bytes64,
  Bytes32
};  // numbered as in the descriptor

struct MatrixDescriptor {
  uint32_t start = 0;           // bytes, in the block's shared memory
  uint32_t leading_offset = 0;  // bytes
  uint32_t stride_offset = 0;   // bytes
  uint32_t base_offset = 0;     // 0-7, in lines of 128 bytes
  SwizzleMode mode = SwizzleMode::None;
};

MatrixDescriptor decode_descriptor(uint64_t bits);
// "start 0x4400, leading offset 128, stride offset 1024, base offset 0, 128-byte swizzle"
std::string describe(const MatrixDescriptor& descriptor);

// Places of the rows of an operand in the shared memory at `shared`.
OperandRows descriptor_rows(const MatrixDescriptor& descriptor, Major major,
                            const std::byte* shared);

// The byte past the last one that `groups` x 8 rows of `chunks` chunks reach.
uint32_t reach(const OperandRows& rows, int groups, int chunks);

}  // namespace weft::emulator
