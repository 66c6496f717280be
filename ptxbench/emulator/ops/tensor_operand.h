// SPDX-License-Identifier: Apache-2.0

// Operands of tcgen05.mma on their way to a tile engine: rows of A and columns of B of one block,
// from shared or tensor memory, as they lie or copied row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/ops/tensor_product.h"
#include "ptxbench/emulator/tile/operand_rows.h"

namespace weft::emulator {

// A part of the product: rows of D in one block, and columns whose B is in one block.
struct Part {
  TensorMemory* memory = nullptr;
  uint32_t first_group = 0;  // lanes / 8 of the part's first rows
  bool spread = false;       // M = 64: 16 rows in each quarter of the lanes
  int rows = 64;             // 32 or 64
  uint32_t column = 0;       // of D in tensor memory
  int columns = 0;
  int a_first = 0, a_rows = 64;        // of A in its block: this part's first row, and all rows
  int b_first = 0, b_columns = 0;      // of B in its block: this part's first column, and all
  int scale_column = 0;                // where B's scales begin: the part's first column
  const uint32_t* disabled = nullptr;  // 128 bits

  uint32_t group(int g) const {
    const auto i = static_cast<uint32_t>(g);
    return spread ? first_group + 4 * (i / 2) + i % 2 : first_group + i;
  }
  uint32_t lane(int row) const { return group(row / 8) * 8 + static_cast<uint32_t>(row % 8); }
};

// An operand copied row by row, K along the rows, from bytes that 32 bytes of shared memory hold:
// up to 64 elements of a byte, twice as many where A is sparse.
struct alignas(64) CopiedRows {
  static constexpr int kBytes = 128;
  std::byte bytes[256][kBytes];
  // From element `first` on, of one byte.
  OperandRows rows(int first = 0) const {
    return {.base = bytes[0] + first,
            .group_stride = 8 * kBytes,
            .row_stride = kBytes,
            .chunk_stride = 16};
  }
};

// What one product reads of A or B in a block.
struct Operand {
  const TensorProduct* product = nullptr;
  Block* block = nullptr;
  bool is_a = false;
  int outer = 0;  // rows of A or columns of B in this block

  TileElement element() const { return is_a ? product->shape.a : product->shape.b; }
  Major major() const { return is_a ? product->shape.a_major : product->shape.b_major; }
  NarrowElement narrow() const { return is_a ? product->shape.narrow_a : product->shape.narrow_b; }
  // Elements in 16 bytes of memory.
  int per_chunk() const { return product->shape.packed ? 32 : chunk_elements(element()); }
  // Elements of a row that are in memory.
  int depth() const { return (product->shape.sparse && !is_a ? 4 : 2) * per_chunk(); }
  uint64_t descriptor() const { return is_a ? product->a_descriptor : product->b_descriptor; }
  // Engines take 16-bit elements as they lie, wider and narrower ones only along the depth.
  bool copied() const {
    const bool changed = is_a ? product->shape.sparse : product->zero_columns.has_value();
    return changed || narrow() != NarrowElement::None ||
           (major() == Major::Outer && element_bits(element()) != 16);
  }
};

// Rows `first` ... of A or columns `first` ... of B in shared memory, for the engine; false after a
// fault.
bool operand_rows(const Operand& o, int first, int count, CopiedRows& space, OperandRows& rows);

// A from tensor memory: eight columns hold 32 bytes of each row.
OperandRows tensor_rows(const TensorProduct& product, const Part& part, TensorMemory& memory,
                        CopiedRows& out);

// Rows of a sparse A, copied, with its zeros between them.
OperandRows spread_rows(const TensorProduct& product, const Part& part, TensorMemory& memory,
                        const CopiedRows& stored, CopiedRows& out);

// What of shared memory the operand reads, for the hazard check; nothing where that is not modelled
// or reaches outside, which is a fault when the product is carried out.
std::optional<SharedOperand> checked_operand(const Operand& o);

// What a zero-column mask descriptor says of B's columns for M = `rows` (section 9.7.16.4.3).
struct ZeroColumns {
  uint64_t bits = 0;
  int rows = 0, columns = 0;
  int shift() const { return static_cast<int>(bits >> 56 & 63); }
  bool is_zero(int column) const;
};

// Why a shared-memory descriptor's rows are not all in the block's shared memory, at `offset`;
// empty: they are. `groups` of eight rows of `chunks` times 16 bytes.
std::string outside_shared(const OperandRows& rows, int groups, int chunks, size_t shared_bytes,
                           uint64_t& offset);

}  // namespace weft::emulator
