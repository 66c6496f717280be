// SPDX-License-Identifier: Apache-2.0

// Where scales lie (PTX ISA 9.0, section 9.7.16.10.7): the word of row i of A, or of column i of B,
// in lane i % 32 and column i / 32 from the operand's address, once in each quarter of the lanes,
// for the rows of D that live there. A word has four scales, of which one instruction uses one, two
// or all.
//
// The product of a run is a sum of a tile engine in fp32. Its scales are applied in double, where
// products of two of them are exact: 2^-254 ... 2^254 for ue8m0.

#include "ptxbench/emulator/ops/tensor_scaled_product.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>

#include "ptxbench/emulator/tampering.h"

namespace weft::emulator {

namespace {

constexpr int kMostRows = 64, kMostColumns = 256;

double scale_value(uint32_t bits, bool e4m3) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (!e4m3) return bits == 0xff ? kNaN : std::ldexp(1.0, static_cast<int>(bits) - 127);
  const int exponent = static_cast<int>(bits >> 3 & 15), mantissa = static_cast<int>(bits & 7);
  if ((bits & 0x7f) == 0x7f) return kNaN;
  return exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
}

// The sums of one run, as engines keep them, and its scales.
struct Run {
  alignas(64) float parts[kMostRows * kMostColumns / 32][32];
  double row_scale[kMostRows];
  double column_scale[2][kMostColumns];  // by quarter of the lanes, of the two that a part has

  float at(int row, int column, int columns) const {
    return parts[row / 8 * (columns / 4) + column / 8 * 2 + column % 2]
                [row % 8 * 4 + column % 8 / 2];
  }
};
Run& workspace() {
  static thread_local Run space;
  return space;
}

uint32_t u(int value) {
  return static_cast<uint32_t>(value);
}

// The scales of run `k` of the depth.
void find_scales(const TensorProduct& product, const Part& part, int k, Run& run) {
  const auto scale = [&](uint32_t quarter, int index, TensorAddress at, int byte) {
    const uint32_t word =
        part.memory->word(quarter * 32 + u(index % 32), at.column + u(index / 32));
    return scale_value(word >> (8 * byte) & 0xff, product.shape.scales_are_e4m3);
  };
  for (int row = 0; row < part.rows; ++row)
    run.row_scale[row] = scale(part.lane(row) / 32, part.a_first + row, product.a_scales,
                               product.shape.a_scale_byte + k);
  for (int quarter = 0; quarter < 2; ++quarter)
    for (int column = 0; column < part.columns; ++column)
      run.column_scale[quarter][column] =
          scale(part.lane(0) / 32 + u(quarter), part.scale_column + column, product.b_scales,
                product.shape.b_scale_byte + k);
}

// D (+)= what the run has, scaled.
void add_run(const Part& part, bool onto, const Run& run) {
  const uint32_t first_quarter = part.lane(0) / 32;
  for (int row = 0; row < part.rows; ++row) {
    const uint32_t lane = part.lane(row);
    const double* column_scale = run.column_scale[lane / 32 - first_quarter];
    for (int column = 0; column < part.columns; ++column) {
      uint32_t& word = part.memory->word(lane, part.column + u(column));
      const double before = onto ? std::bit_cast<float>(word) : 0;
      const double scale = run.row_scale[row] * column_scale[column];
      word = std::bit_cast<uint32_t>(
          static_cast<float>(before + run.at(row, column, part.columns) * scale));
      if (tampering().products) write_nonsense(reinterpret_cast<std::byte*>(&word), sizeof word);
    }
  }
}

}  // namespace

void multiply_scaled(const TensorProduct& product, const Part& part, const MatrixShape& shape,
                     const MatrixStep& step) {
  Run& run = workspace();
  MatrixShape run_shape = shape;
  run_shape.depth = static_cast<uint16_t>(shape.depth / product.scales);
  float* parts[std::size(run.parts)];
  const size_t count = static_cast<size_t>(part.columns / 4 * (part.rows / 8));
  for (size_t i = 0; i < count; ++i) parts[i] = run.parts[i];
  for (int k = 0; k < product.scales; ++k) {
    MatrixStep one = step;
    // More than one run is of elements of four bits, which are copied, a byte each.
    one.a.start += u(k) * run_shape.depth;
    one.b.start += u(k) * run_shape.depth;
    std::memset(run.parts, 0, count * sizeof run.parts[0]);
    accumulate(tile_engine(), run_shape, std::span(&one, 1), parts);
    find_scales(product, part, k, run);
    add_run(part, product.accumulate || k > 0, run);
  }
}

}  // namespace weft::emulator
