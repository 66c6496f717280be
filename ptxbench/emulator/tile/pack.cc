// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/tile/pack.h"

#include "base/invariant.h"
#include "ptxbench/emulator/tile/expand.h"

namespace weft::emulator {

namespace {

// Of the chunks of a row, computed once for all rows.
class Distances {
 public:
  Distances(const OperandRows& rows, int first, int count) {
    INVARIANT(count <= kMost);
    for (int chunk = 0; chunk < count; ++chunk) distances_[chunk] = rows.distance(first + chunk);
  }
  uint32_t operator[](int chunk) const { return distances_[chunk]; }

 private:
  static constexpr int kMost = 32;  // 256 columns of 16 bits
  uint32_t distances_[kMost];
};

// The functions take `rows` by value: vector stores may alias anything, and its members must stay
// in registers.

template <TileElement kElement>
void rows_of(const OperandRows rows, int groups, int chunks, Sign sign, float* out,
             ptrdiff_t out_row) {
  constexpr int kParts = chunk_elements(kElement) / 8;
  const __m256 flip = _mm256_set1_ps(sign == Sign::Flip ? -0.0f : 0.0f);
  const Distances distances(rows, 0, chunks);
  for (int group = 0; group < groups; ++group)
    for (int row = 0; row < 8; ++row, out += out_row)
      for (int chunk = 0; chunk < chunks; ++chunk) {
        const std::byte* bytes = rows.at_linear(rows.row_start(group, row) + distances[chunk]);
        if constexpr (kElement == TileElement::Tf32) {
          _mm_storeu_ps(out + 4 * chunk,
                        _mm_xor_ps(expand_tf32(bytes), _mm256_castps256_ps128(flip)));
        } else {
          for (int part = 0; part < kParts; ++part)
            _mm256_storeu_ps(out + (kParts * chunk + part) * 8,
                             _mm256_xor_ps(expand<kElement>(bytes, part), flip));
        }
      }
}

template <TileElement kElement>
void integer_rows_of(const OperandRows rows, int groups, int chunks, int16_t* out,
                     ptrdiff_t out_row) {
  constexpr int kParts = chunk_elements(kElement) / 16;
  for (int group = 0; group < groups; ++group)
    for (int row = 0; row < 8; ++row, out += out_row)
      for (int chunk = 0; chunk < chunks; ++chunk)
        for (int part = 0; part < kParts; ++part)
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + (kParts * chunk + part) * 16),
                              expand_integers<kElement>(rows.at(group, row, chunk), part));
}

template <TileElement kElement>
void columns_of(const OperandRows rows, int groups, int chunks, int first,
                const Panels<float>& out) {
  constexpr int kParts = chunk_elements(kElement) / 8;
  const Distances distances(rows, 0, chunks);
  for (int group = 0; group < groups; ++group) {
    const int width = out.width_at(8 * group);
    float* column = out.at<1>(first, 8 * group);
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const std::byte* bytes[8];
#pragma GCC unroll 8
      for (int row = 0; row < 8; ++row)
        bytes[row] = rows.at_linear(rows.row_start(group, row) + distances[chunk]);
      for (int part = 0; part < kParts; ++part, column += 8 * width) {
        __m256 block[8];
#pragma GCC unroll 8
        for (int row = 0; row < 8; ++row) block[row] = expand<kElement>(bytes[row], part);
        transpose(block);
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) _mm256_storeu_ps(column + k * width, block[k]);
      }
    }
  }
}

// Two bf16 neighbours along the depth are one 32-bit unit until they stand in their column; then
// the upper one is an fp32 value with the lower half cleared, and the lower one after a shift.
void bf16_columns(const OperandRows rows, int groups, int chunks, int first,
                  const Panels<float>& out) {
  const __m256i upper = _mm256_set1_epi32(static_cast<int>(0xffff0000u));
  const Distances distances(rows, 0, chunks);
  for (int group = 0; group < groups; ++group) {
    const int width = out.width_at(8 * group);
    float* column = out.at<1>(first, 8 * group);
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const auto load = [&](int row) {
        return load_chunk(rows.at_linear(rows.row_start(group, row) + distances[chunk]));
      };
      __m256i r[4];  // rows i and i + 4
#pragma GCC unroll 4
      for (int row = 0; row < 4; ++row)
        r[row] = _mm256_inserti128_si256(_mm256_castsi128_si256(load(row)), load(row + 4), 1);
      const __m256i t[4] = {_mm256_unpacklo_epi32(r[0], r[1]), _mm256_unpackhi_epi32(r[0], r[1]),
                            _mm256_unpacklo_epi32(r[2], r[3]), _mm256_unpackhi_epi32(r[2], r[3])};
      const __m256i pairs[4] = {
          _mm256_unpacklo_epi64(t[0], t[2]), _mm256_unpackhi_epi64(t[0], t[2]),
          _mm256_unpacklo_epi64(t[1], t[3]), _mm256_unpackhi_epi64(t[1], t[3])};
#pragma GCC unroll 4
      for (int pair = 0; pair < 4; ++pair, column += 2 * width) {
        _mm256_storeu_ps(column, _mm256_castsi256_ps(_mm256_slli_epi32(pairs[pair], 16)));
        _mm256_storeu_ps(column + width, _mm256_castsi256_ps(_mm256_and_si256(pairs[pair], upper)));
      }
    }
  }
}

// Two chunks of four values make a row of eight.
void tf32_columns(const OperandRows rows, int groups, int chunks, int first,
                  const Panels<float>& out) {
  for (int group = 0; group < groups; ++group) {
    const int width = out.width_at(8 * group);
    float* column = out.at<1>(first, 8 * group);
    for (int chunk = 0; chunk < chunks; ++chunk, column += 4 * width)
      for (int half = 0; half < 2; ++half) {
        __m128 r[4];
#pragma GCC unroll 4
        for (int row = 0; row < 4; ++row)
          r[row] = expand_tf32(rows.at(group, 4 * half + row, chunk));
        _MM_TRANSPOSE4_PS(r[0], r[1], r[2], r[3]);
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) _mm_storeu_ps(column + k * width + 4 * half, r[k]);
      }
  }
}

// The values k and k+1 of a column are one 32-bit unit here, so an 8 x 16 block of integers turns
// like an 8 x 8 block of floats.
template <TileElement kElement>
void integer_columns_of(const OperandRows rows, int groups, int chunks, int first,
                        const Panels<int16_t>& out) {
  constexpr int kParts = chunk_elements(kElement) / 16;
  for (int group = 0; group < groups; ++group) {
    const int width = out.width_at(8 * group);
    auto* column = reinterpret_cast<float*>(out.at<2>(first, 8 * group));
    for (int chunk = 0; chunk < chunks; ++chunk)
      for (int part = 0; part < kParts; ++part, column += 8 * width) {
        __m256 block[8];
        for (int row = 0; row < 8; ++row)
          block[row] =
              _mm256_castsi256_ps(expand_integers<kElement>(rows.at(group, row, chunk), part));
        transpose(block);
        for (int k = 0; k < 8; ++k) _mm256_storeu_ps(column + k * width, block[k]);
      }
  }
}

template <TileElement kElement>
void depth_rows_of(const OperandRows rows, int groups, int first_chunk, int chunks, int first,
                   const Panels<float>& out) {
  static_assert(element_bits(kElement) == 16);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int width = out.width_at(8 * chunk);
    float* row = out.at<1>(first, 8 * chunk);
    const uint32_t distance = rows.distance(first_chunk + chunk);
    for (int group = 0; group < groups; ++group)
      for (int k = 0; k < 8; ++k, row += width)
        _mm256_storeu_ps(row,
                         expand<kElement>(rows.at_linear(rows.row_start(group, k) + distance), 0));
  }
}

}  // namespace

void pack_rows(TileElement element, const OperandRows& rows, int groups, int chunks, Sign sign,
               float* out, ptrdiff_t out_row) {
  switch (element) {
    case TileElement::F16:
      return rows_of<TileElement::F16>(rows, groups, chunks, sign, out, out_row);
    case TileElement::Bf16:
      return rows_of<TileElement::Bf16>(rows, groups, chunks, sign, out, out_row);
    case TileElement::Tf32:
      return rows_of<TileElement::Tf32>(rows, groups, chunks, sign, out, out_row);
    case TileElement::E4m3:
      return rows_of<TileElement::E4m3>(rows, groups, chunks, sign, out, out_row);
    case TileElement::E5m2:
      return rows_of<TileElement::E5m2>(rows, groups, chunks, sign, out, out_row);
    default:
      INVARIANT(!"a floating-point element");
  }
}

void pack_rows(TileElement element, const OperandRows& rows, int groups, int chunks, int16_t* out,
               ptrdiff_t out_row) {
  switch (element) {
    case TileElement::S8:
      return integer_rows_of<TileElement::S8>(rows, groups, chunks, out, out_row);
    case TileElement::U8:
      return integer_rows_of<TileElement::U8>(rows, groups, chunks, out, out_row);
    case TileElement::S4:
      return integer_rows_of<TileElement::S4>(rows, groups, chunks, out, out_row);
    case TileElement::U4:
      return integer_rows_of<TileElement::U4>(rows, groups, chunks, out, out_row);
    default:
      INVARIANT(!"an integer element");
  }
}

void pack_columns(TileElement element, const OperandRows& rows, int groups, int chunks, int first,
                  const Panels<float>& out) {
  switch (element) {
    case TileElement::F16:
      return columns_of<TileElement::F16>(rows, groups, chunks, first, out);
    case TileElement::Bf16:
      return bf16_columns(rows, groups, chunks, first, out);
    case TileElement::Tf32:
      return tf32_columns(rows, groups, chunks, first, out);
    case TileElement::E4m3:
      return columns_of<TileElement::E4m3>(rows, groups, chunks, first, out);
    case TileElement::E5m2:
      return columns_of<TileElement::E5m2>(rows, groups, chunks, first, out);
    default:
      INVARIANT(!"a floating-point element");
  }
}

void pack_columns(TileElement element, const OperandRows& rows, int groups, int chunks, int first,
                  const Panels<int16_t>& out) {
  switch (element) {
    case TileElement::S8:
      return integer_columns_of<TileElement::S8>(rows, groups, chunks, first, out);
    case TileElement::U8:
      return integer_columns_of<TileElement::U8>(rows, groups, chunks, first, out);
    case TileElement::S4:
      return integer_columns_of<TileElement::S4>(rows, groups, chunks, first, out);
    case TileElement::U4:
      return integer_columns_of<TileElement::U4>(rows, groups, chunks, first, out);
    default:
      INVARIANT(!"an integer element");
  }
}

void pack_depth_rows(TileElement element, const OperandRows& rows, int groups, int first_chunk,
                     int chunks, int first, const Panels<float>& out) {
  if (element == TileElement::F16)
    return depth_rows_of<TileElement::F16>(rows, groups, first_chunk, chunks, first, out);
  INVARIANT(element == TileElement::Bf16);
  depth_rows_of<TileElement::Bf16>(rows, groups, first_chunk, chunks, first, out);
}

}  // namespace weft::emulator
