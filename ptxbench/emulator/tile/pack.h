// SPDX-License-Identifier: Apache-2.0

// Brings operands from where they lie (swizzled shared memory, registers) into the order that tile
// engines read, as fp32 or 16-bit integers. Every value is exact in the wider type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptxbench/emulator/tile/element.h"
#include "ptxbench/emulator/tile/operand_rows.h"

namespace weft::emulator {

enum class Sign : uint8_t { Keep, Flip };

// Rows as they stand: 16-byte chunk c of row r goes to out + r * out_row + c * elements per chunk.
// For A with K along its rows; for A with M along its rows, "row" is k and the result is A
// transposed.
void pack_rows(TileElement element, const OperandRows& rows, int groups, int chunks, Sign sign,
               float* out, ptrdiff_t out_row);
void pack_rows(TileElement element, const OperandRows& rows, int groups, int chunks, int16_t* out,
               ptrdiff_t out_row);

// Where B goes: panels of `width` columns for a product `depth` deep (tile_engine.h).
template <typename T>
struct Panels {
  T* data = nullptr;
  int columns = 0, width = 0, depth = 0;

  // Width of the panel that holds the column, and where its values (column, k) lie, `unit`
  // neighbours along the depth standing together.
  int width_at(int column) const {
    const int left = columns - column / width * width;
    return left < width ? left : width;
  }
  template <int kUnit>
  T* at(int k, int column) const {
    return data + static_cast<ptrdiff_t>(column / width * width) * depth +
           (static_cast<ptrdiff_t>(k / kUnit) * width_at(column) + column % width) * kUnit;
  }
};

// B with K along its rows: row n of the operand is column n of the product. `first` is the depth at
// which these chunks stand in the product.
void pack_columns(TileElement element, const OperandRows& rows, int groups, int chunks, int first,
                  const Panels<float>& out);
void pack_columns(TileElement element, const OperandRows& rows, int groups, int chunks, int first,
                  const Panels<int16_t>& out);
// B with N along its rows: row k of the operand is row k of the product, whose columns begin at the
// operand's chunk `first_chunk`.
void pack_depth_rows(TileElement element, const OperandRows& rows, int groups, int first_chunk,
                     int chunks, int first, const Panels<float>& out);

}  // namespace weft::emulator
