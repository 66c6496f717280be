// SPDX-License-Identifier: Apache-2.0

// Engines that multiply tiles: what a tensor core does in one instruction, done by whatever this
// processor has. Operands come packed; accumulators stay where they are, in registers of the warps.
//
// Accumulators are 8 x 8 blocks in two parts of 32 values each: the even columns and the odd ones,
// row after row. That is what a pair of 32-bit accumulator registers of a warp holds.
//   part 0   (0,0) (0,2) (0,4) (0,6) (1,0) ...
//   part 1   (0,1) (0,3) (0,5) (0,7) (1,1) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace weft::emulator {

// c += a b with products exact and sums in fp32, in any order.
struct FloatProduct {
  int row_groups = 0;     // rows / 8
  int column_groups = 0;  // columns / 8
  int depth = 0;
  float* const* c = nullptr;  // part p of block (i, j) is c[i * c_row + 2 * j + p]
  ptrdiff_t c_row = 0;
  const float* a = nullptr;  // element (row, k) is a[row * a_row + k * a_depth]
  ptrdiff_t a_row = 0, a_depth = 1;
  // Panels of panel_width columns, the last one narrower: element (k, column) of a panel that is w
  // wide is b[k * w + column]; the next panel follows. 32-byte aligned.
  const float* b = nullptr;
  bool fits_bf16 = false;  // every operand value is a bf16 value
};

// c += a b in 32-bit integers that wrap around. Depth is even; two neighbours along it stand
// together.
struct IntegerProduct {
  int row_groups = 0, column_groups = 0, depth = 0;
  int32_t* const* c = nullptr;
  ptrdiff_t c_row = 0;
  const int16_t* a = nullptr;  // element (row, k) is a[row * a_row + k]
  ptrdiff_t a_row = 0;
  const int16_t* b =
      nullptr;  // panels as above; element (k, column) is b[(k/2 * w + column) * 2 + k%2]
  bool a_signed = true, b_signed = true;  // values are s8, else u8
};

struct MatrixShape;  // matrix_product.h
struct MatrixStep;

// Where the sums of 64 rows come from and where they go. Sums that more products will be added to
// may stay parked between them, in an order that only the engine knows.
struct SumPlaces {
  enum class From : uint8_t { Zero, Parts, Parked } from = From::Parts;
  enum class To : uint8_t { Parts, Parked } to = To::Parts;
  float* const* parts = nullptr;  // as in FloatProduct, rows of columns / 4 parts
  float* parked = nullptr;        // 64-byte aligned, parked_values(columns) of them
};
inline constexpr int parked_values(int columns) {
  return 64 * ((columns + 31) / 32 * 32);
}

struct TileEngine {
  std::string_view name;
  int panel_width;      // columns, a multiple of 8
  int columns_at_once;  // best number of columns of a call: packed, they stay in a near cache
  void (*multiply)(const FloatProduct&);
  void (*multiply_integers)(const IntegerProduct&);
  // Products of m64nNk16 in bf16 with the operands where the instruction names them, for a unit
  // that takes bf16 itself. Null: the engine has none, and operands are packed for `multiply`.
  // Without steps it moves sums from their place to the other.
  void (*multiply_bf16)(const MatrixShape&, std::span<const MatrixStep>,
                        const SumPlaces&) = nullptr;
};

// The best engine of this processor, or the one that the environment variable WEFT_TILE_ENGINE
// names (portable, avx2, avx512, amx) when the processor has it.
const TileEngine& tile_engine();
// All that this processor can run, slowest first.
std::vector<const TileEngine*> available_tile_engines();

const TileEngine& portable_engine();
const TileEngine* avx2_engine();  // nullptr: not on this processor, or not built
const TileEngine* avx512_engine();
const TileEngine* amx_engine();

}  // namespace weft::emulator
