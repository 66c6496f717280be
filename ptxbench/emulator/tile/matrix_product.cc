// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/tile/matrix_product.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/invariant.h"
#include "ptxbench/emulator/tile/pack.h"

namespace weft::emulator {

namespace {

// Packed operands of one call: A is 64 x kMostDepth at most, B kMostColumns x kMostDepth. What a
// call needs at once is far less: A and one panel of B.
constexpr int kMostRows = 64, kMostColumns = 256, kMostDepth = 128;

struct alignas(64) Workspace {
  float a[kMostRows * kMostDepth];
  float b[kMostColumns * kMostDepth];
};

Workspace& workspace() {
  static thread_local Workspace space;
  return space;
}

}  // namespace

bool multiplies_bf16(const TileEngine& engine, const MatrixShape& shape) {
  return engine.multiply_bf16 != nullptr && shape.rows == 64 && shape.depth == 16 &&
         shape.a == TileElement::Bf16 && shape.b == TileElement::Bf16;
}

int most_steps(const MatrixShape& shape) {
  // Integers are half as wide in the workspace.
  return (is_integer(shape.a) ? 2 : 1) * kMostDepth / shape.depth;
}

void accumulate(const TileEngine& engine, const MatrixShape& shape,
                std::span<const MatrixStep> steps, float* const* c) {
  const int depth = shape.depth * static_cast<int>(steps.size());
  INVARIANT(shape.rows <= kMostRows && shape.columns <= kMostColumns && depth <= kMostDepth);
  if (multiplies_bf16(engine, shape)) return engine.multiply_bf16(shape, steps, {.parts = c});
  Workspace& space = workspace();
  const bool a_along_depth = shape.a_major == Major::Depth,
             b_along_depth = shape.b_major == Major::Depth;
  const int a_chunks = (a_along_depth ? shape.depth : shape.rows) / chunk_elements(shape.a);
  FloatProduct product{.row_groups = shape.rows / 8,
                       .depth = depth,
                       .c_row = shape.columns / 4,
                       .a = space.a,
                       .a_row = a_along_depth ? depth : 1,
                       .a_depth = a_along_depth ? 1 : shape.rows,
                       .b = space.b,
                       .fits_bf16 = fits_bf16(shape.a) && fits_bf16(shape.b)};
  float* a = space.a;
  for (const MatrixStep& step : steps) {
    pack_rows(shape.a, step.a, (a_along_depth ? shape.rows : shape.depth) / 8, a_chunks,
              step.negate ? Sign::Flip : Sign::Keep, a,
              a_along_depth ? product.a_row : product.a_depth);
    a += shape.depth * product.a_depth;
  }
  for (int column = 0; column < shape.columns; column += engine.columns_at_once) {
    const int columns = std::min(engine.columns_at_once, shape.columns - column);
    const Panels<float> panels{space.b, columns, engine.panel_width, depth};
    int first = 0;
    for (const MatrixStep& step : steps) {
      if (b_along_depth)
        pack_columns(shape.b, step.b.from_group(column / 8), columns / 8,
                     shape.depth / chunk_elements(shape.b), first, panels);
      else
        pack_depth_rows(shape.b, step.b, shape.depth / 8, column / 8, columns / 8, first, panels);
      first += shape.depth;
    }
    product.column_groups = columns / 8;
    product.c = c + column / 4;
    engine.multiply(product);
  }
}

void accumulate(const TileEngine& engine, const MatrixShape& shape,
                std::span<const MatrixStep> steps, int32_t* const* c) {
  const int depth = shape.depth * static_cast<int>(steps.size());
  INVARIANT(shape.rows <= kMostRows && shape.columns <= kMostColumns && depth <= 2 * kMostDepth);
  Workspace& space = workspace();
  auto* a = reinterpret_cast<int16_t*>(space.a);
  auto* b = reinterpret_cast<int16_t*>(space.b);
  const int chunks = shape.depth / chunk_elements(shape.a);
  IntegerProduct product{.row_groups = shape.rows / 8,
                         .depth = depth,
                         .c_row = shape.columns / 4,
                         .a = a,
                         .a_row = depth,
                         .b = b,
                         .a_signed = is_signed(shape.a),
                         .b_signed = is_signed(shape.b)};
  for (const MatrixStep& step : steps) {
    pack_rows(shape.a, step.a, shape.rows / 8, chunks, a, depth);
    a += shape.depth;
  }
  for (int column = 0; column < shape.columns; column += engine.columns_at_once) {
    const int columns = std::min(engine.columns_at_once, shape.columns - column);
    const Panels<int16_t> panels{b, columns, engine.panel_width, depth};
    int first = 0;
    for (const MatrixStep& step : steps) {
      pack_columns(shape.b, step.b.from_group(column / 8), columns / 8, chunks, first, panels);
      first += shape.depth;
    }
    product.column_groups = columns / 8;
    product.c = c + column / 4;
    engine.multiply_integers(product);
  }
}

void accumulate_bits(const MatrixShape& shape, std::span<const MatrixStep> steps,
                     BitOperation operation, int32_t* const* c) {
  const int c_row = shape.columns / 4;
  const int chunks = shape.depth / 128;
  for (const MatrixStep& step : steps)
    for (int row = 0; row < shape.rows; ++row)
      for (int column = 0; column < shape.columns; ++column) {
        int ones = 0;
        for (int chunk = 0; chunk < chunks; ++chunk) {
          uint64_t x[2], y[2];
          std::memcpy(x, step.a.at(row / 8, row % 8, chunk), sizeof x);
          std::memcpy(y, step.b.at(column / 8, column % 8, chunk), sizeof y);
          ones += operation == BitOperation::And
                      ? std::popcount(x[0] & y[0]) + std::popcount(x[1] & y[1])
                      : std::popcount(x[0] ^ y[0]) + std::popcount(x[1] ^ y[1]);
        }
        int32_t& sum =
            c[row / 8 * c_row + column / 8 * 2 + column % 2][row % 8 * 4 + column % 8 / 2];
        sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(ones));
      }
}

}  // namespace weft::emulator
