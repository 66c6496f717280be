// SPDX-License-Identifier: Apache-2.0

// Products of operands as instructions name them: packs, chooses how to multiply, adds into the
// accumulators. Several instructions on the same accumulators are one deeper product.
#pragma once

#include <cstdint>
#include <span>

#include "ptxbench/emulator/tile/element.h"
#include "ptxbench/emulator/tile/operand_rows.h"
#include "ptxbench/emulator/tile/tile_engine.h"

namespace weft::emulator {

enum class Major : uint8_t {
  Depth,  // K runs along the 16-byte rows of the operand
  Outer,  // M (or N) does
};

struct MatrixShape {
  TileElement a = TileElement::F16, b = TileElement::F16;
  uint16_t rows = 0, columns = 0;  // multiples of 8
  uint16_t depth = 0;              // of one step
  Major a_major = Major::Depth, b_major = Major::Depth;
  bool operator==(const MatrixShape&) const = default;
};

// The operands of one instruction.
struct MatrixStep {
  OperandRows a, b;
  bool negate = false;  // subtract the product
};

// Whether TileEngine::multiply_bf16 is there and fits.
bool multiplies_bf16(const TileEngine& engine, const MatrixShape& shape);

// How many steps one call takes at most.
int most_steps(const MatrixShape& shape);

// Accumulators are as in tile_engine.h: part p of block (i, j) is c[i * columns / 4 + 2 * j + p].
void accumulate(const TileEngine& engine, const MatrixShape& shape,
                std::span<const MatrixStep> steps, float* const* c);
// 32-bit sums that wrap around.
void accumulate(const TileEngine& engine, const MatrixShape& shape,
                std::span<const MatrixStep> steps, int32_t* const* c);
// Counts the ones of a & b, or of a ^ b, along the depth (.b1).
enum class BitOperation : uint8_t { And, Xor };
void accumulate_bits(const MatrixShape& shape, std::span<const MatrixStep> steps,
                     BitOperation operation, int32_t* const* c);

}  // namespace weft::emulator
