// SPDX-License-Identifier: Apache-2.0

// bf16 products of wgmma on AMX. The unit takes bf16, so operands go from swizzled shared memory to
// its tiles directly: rows of A as they stand, B with two neighbours along K in 32 bits.
//
//   A          row m:    k0 k1 k2 ... k31                64 bytes
//   B          row k/2:  n0 k, n0 k+1, n1 k, n1 k+1 ...  64 bytes a tile, two tiles side by side
//
// Parked sums are squares of 32 x 32, row after row, the two of a panel of B side by side.
// Denormals are treated as amx.cc says.

#include <immintrin.h>

#include "ptxbench/emulator/tile/amx_square.h"
#include "ptxbench/emulator/tile/block_transpose.h"
#include "ptxbench/emulator/tile/matrix_product.h"
#include "ptxbench/emulator/tile/wide_blocks.h"

namespace weft::emulator {

namespace {

constexpr int kRows = 64, kStepDepth = 16, kStepBytes = 32, kMostDepth = 128;
constexpr int kPanelRow = kWidePanel * 4;  // bytes
constexpr int kPanelGroups = kWidePanel / 8;
constexpr int kSquare = 32 * kWidePanel;  // values

inline const __m128i* chunk(const OperandRows& rows, uint32_t linear) {
  return reinterpret_cast<const __m128i*>(rows.at_linear(linear));
}

// Where the two chunks of a K-major row lie that one step reads. When they are an aligned pair of
// 32 bytes, a swizzle moves them together or exchanges them, so the second is the first's
// neighbour.
class RowChunks {
 public:
  explicit RowChunks(const OperandRows& rows)
      : rows_(rows),
        second_(rows.distance(1)),
        paired_(second_ == 16 && (rows.start | rows.group_stride | rows.row_stride) % 32 == 0) {}
  void set(uint32_t group, uint32_t row) {
    const uint32_t start = rows_.row_start(group, row);
    const std::byte* first = rows_.at_linear(start);
    chunks_[0] = first;
    chunks_[1] =
        paired_ ? rows_.base + ((first - rows_.base) ^ 16) : rows_.at_linear(start + second_);
  }
  __m128i load(int number) const {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(chunks_[number]));
  }

 private:
  const OperandRows& rows_;
  uint32_t second_;
  bool paired_;
  const std::byte* chunks_[2] = {};
};

// The operands are taken by value: vector stores may alias anything, and their members must stay in
// registers.

void copy_a(const OperandRows rows, __m128i flip, std::byte* out, int row_bytes) {
  RowChunks chunks(rows);
  for (uint32_t group = 0; group < kRows / 8; ++group)
    for (uint32_t row = 0; row < 8; ++row, out += row_bytes) {
      chunks.set(group, row);
      auto* to = reinterpret_cast<__m128i*>(out);
      _mm_store_si128(to, _mm_xor_si128(chunks.load(0), flip));
      _mm_store_si128(to + 1, _mm_xor_si128(chunks.load(1), flip));
    }
}

// Rows of the operand are k.
void transpose_a(const OperandRows rows, __m128i flip, std::byte* out, int row_bytes) {
  for (int m = 0; m < kRows / 8; ++m) {
    const uint32_t distance = rows.distance(m);
    for (uint32_t group = 0; group < kStepDepth / 8; ++group) {
      alignas(16) std::byte block[128];
      auto* lines = reinterpret_cast<__m128i*>(block);
      for (uint32_t row = 0; row < 8; ++row)
        _mm_store_si128(
            lines + row,
            _mm_xor_si128(_mm_loadu_si128(chunk(rows, rows.row_start(group, row) + distance)),
                          flip));
      transpose_block(block, block);
      for (int row = 0; row < 8; ++row)
        _mm_store_si128(reinterpret_cast<__m128i*>(out + (8 * m + row) * row_bytes + 16 * group),
                        _mm_load_si128(lines + row));
    }
  }
}

// Sixteen columns a round: quarters of a vector are the same 16 bytes of rows i, i + 4, i + 8, i +
// 12 of the operand, so a 4 x 4 transpose of 32-bit values within quarters puts 16 columns in
// order.
void transpose_b(const OperandRows rows, int groups, std::byte* out) {
  RowChunks chunks(rows);
  for (int group = 0; group < groups; group += 2) {
    const auto first = static_cast<uint32_t>(group);
    const uint32_t last = group + 1 < groups ? first + 1 : first;  // an odd group stands twice
    __m512i r[2][4];                                               // by chunk
#pragma GCC unroll 4
    for (uint32_t row = 0; row < 4; ++row) {
      const auto quarter = [&](uint32_t in_group, uint32_t in_row, auto insert) {
        chunks.set(in_group, in_row);
        for (int c = 0; c < 2; ++c) r[c][row] = insert(r[c][row], chunks.load(c));
      };
      quarter(first, row, [](__m512i, __m128i x) { return _mm512_castsi128_si512(x); });
      quarter(first, row + 4, [](__m512i v, __m128i x) { return _mm512_inserti32x4(v, x, 1); });
      quarter(last, row, [](__m512i v, __m128i x) { return _mm512_inserti32x4(v, x, 2); });
      quarter(last, row + 4, [](__m512i v, __m128i x) { return _mm512_inserti32x4(v, x, 3); });
    }
    std::byte* to = out + 32 * group;
#pragma GCC unroll 2
    for (int c = 0; c < 2; ++c, to += 4 * kPanelRow) {
      const __m512i t[4] = {
          _mm512_unpacklo_epi32(r[c][0], r[c][1]), _mm512_unpackhi_epi32(r[c][0], r[c][1]),
          _mm512_unpacklo_epi32(r[c][2], r[c][3]), _mm512_unpackhi_epi32(r[c][2], r[c][3])};
      _mm512_store_si512(to, _mm512_unpacklo_epi64(t[0], t[2]));
      _mm512_store_si512(to + kPanelRow, _mm512_unpackhi_epi64(t[0], t[2]));
      _mm512_store_si512(to + 2 * kPanelRow, _mm512_unpacklo_epi64(t[1], t[3]));
      _mm512_store_si512(to + 3 * kPanelRow, _mm512_unpackhi_epi64(t[1], t[3]));
    }
  }
}

// Rows of the operand are k: two of them interleave.
void interleave_b(const OperandRows rows, int first_group, int groups, std::byte* out) {
  for (int group = 0; group < groups; ++group) {
    const uint32_t distance = rows.distance(first_group + group);
    for (uint32_t k = 0; k < kStepDepth; k += 2) {
      const __m128i x = _mm_loadu_si128(chunk(rows, rows.row_start(k / 8, k % 8) + distance));
      const __m128i y = _mm_loadu_si128(chunk(rows, rows.row_start(k / 8, k % 8 + 1) + distance));
      auto* to = reinterpret_cast<__m128i*>(out + k / 2 * kPanelRow + 32 * group);
      _mm_store_si128(to, _mm_unpacklo_epi16(x, y));
      _mm_store_si128(to + 1, _mm_unpackhi_epi16(x, y));
    }
  }
}

// The operands of all steps in tile order.
class Operands {
 public:
  Operands(const MatrixShape& shape, std::span<const MatrixStep> steps)
      : shape_(shape), steps_(steps) {
    const int count = static_cast<int>(steps.size());
    if (count % 2 != 0) {
      // An instruction takes two steps; an odd number of them is filled up with zeros.
      __builtin_memset(a_, 0, static_cast<size_t>(kRows * depth_bytes()));
      __builtin_memset(b_ + count * 8 * kPanelRow, 0, 8 * kPanelRow);
    }
    for (int s = 0; s < count; ++s) {
      const MatrixStep& step = steps[static_cast<size_t>(s)];
      const __m128i flip = _mm_set1_epi16(step.negate ? static_cast<short>(0x8000) : 0);
      (shape.a_major == Major::Depth ? copy_a : transpose_a)(step.a, flip, a_ + s * kStepBytes,
                                                             depth_bytes());
    }
  }
  int depth_bytes() const { return (static_cast<int>(steps_.size()) + 1) / 2 * 2 * kStepBytes; }
  const std::byte* a(int row) const { return a_ + row * depth_bytes(); }
  const std::byte* panel_of_b(int first_group, int groups) {
    std::byte* panel = b_;
    for (const MatrixStep& step : steps_) {
      if (shape_.b_major == Major::Depth)
        transpose_b(step.b.from_group(static_cast<uint32_t>(first_group)), groups, panel);
      else
        interleave_b(step.b, first_group, groups, panel);
      panel += 8 * kPanelRow;
    }
    return b_;
  }

 private:
  alignas(64) static thread_local std::byte a_[kRows * kMostDepth * 2];
  alignas(64) static thread_local std::byte b_[kMostDepth / 2 * kPanelRow];
  const MatrixShape& shape_;
  std::span<const MatrixStep> steps_;
};
thread_local std::byte Operands::a_[kRows * kMostDepth * 2];
thread_local std::byte Operands::b_[kMostDepth / 2 * kPanelRow];

}  // namespace

void multiply_bf16_amx(const MatrixShape& shape, std::span<const MatrixStep> steps,
                       const SumPlaces& sums) {
  alignas(64) static thread_local float unparked[kSquare];
  Operands operands(shape, steps);
  const int column_groups = shape.columns / 8, c_row = 2 * column_groups;
  const TileShapes shapes;
  _tile_loadconfig(&shapes);
  for (int j = 0; j < column_groups; j += kPanelGroups) {
    const int groups = column_groups - j < kPanelGroups ? column_groups - j : kPanelGroups;
    const std::byte* b = operands.panel_of_b(j, groups);
    for (int i = 0; i < kRows / 8; i += 4) {
      float* square = unparked;
      if (sums.parked != nullptr) square = sums.parked + (j / kPanelGroups * 2 + i / 4) * kSquare;
      const auto each_block_row = [&](auto f) {
        for (int g = 0; g < 4; ++g)
          f(sums.parts + (i + g) * c_row + 2 * j, square + g * 8 * kWidePanel);
      };
      if (sums.from == SumPlaces::From::Parts)
        each_block_row([&](float* const* parts, float* rows) {
          gather_wide(parts, groups, rows, kWidePanel);
        });
      if (!steps.empty())
        multiply_square<SquareKind::Bf16>(operands.a(8 * i), b, operands.depth_bytes(), square,
                                          sums.from == SumPlaces::From::Zero);
      if (sums.to == SumPlaces::To::Parts)
        each_block_row([&](float* const* parts, float* rows) {
          scatter_wide(rows, kWidePanel, parts, groups);
        });
    }
  }
  _tile_release();
}

}  // namespace weft::emulator
