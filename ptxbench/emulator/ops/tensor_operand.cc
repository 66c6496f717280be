// SPDX-License-Identifier: Apache-2.0

// Elements of 4 and 6 bits become e4m3, which has all their values.

#include "ptxbench/emulator/ops/tensor_operand.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace weft::emulator {

namespace {

constexpr int kStepBytes = 32;  // of every row of A or B in memory, whatever the type

uint8_t widen_narrow(uint32_t bits, NarrowElement format) {
  struct Fields {
    int exponent, mantissa, bias;
  };
  const Fields f = format == NarrowElement::E2m3   ? Fields{2, 3, 1}
                   : format == NarrowElement::E3m2 ? Fields{3, 2, 3}
                                                   : Fields{2, 1, 1};
  const auto exponent = static_cast<int>(bits >> f.mantissa & ((1u << f.exponent) - 1));
  const auto mantissa = static_cast<int>(bits & ((1u << f.mantissa) - 1));
  const uint32_t sign = bits >> (f.exponent + f.mantissa) & 1;
  const int whole = exponent == 0 ? mantissa : mantissa + (1 << f.mantissa);
  if (whole == 0) return static_cast<uint8_t>(sign << 7);
  // whole * 2^unit, which is at least 2^-4 and so a normal number of e4m3.
  const int unit = std::max(exponent, 1) - f.bias - f.mantissa;
  const int top = std::bit_width(static_cast<unsigned>(whole)) - 1;
  return static_cast<uint8_t>(sign << 7 | static_cast<uint32_t>(top + unit + 7) << 3 |
                              ((static_cast<uint32_t>(whole) << 3 >> top) & 7));
}

int narrow_bits(NarrowElement format) {
  return format == NarrowElement::E2m1 ? 4 : 6;
}

uint8_t narrow_at(const std::byte* chunk, int index, NarrowElement format) {
  const int width = narrow_bits(format), first = index * width;
  uint32_t bits = static_cast<uint32_t>(chunk[first / 8]);
  if (first % 8 + width > 8) bits |= static_cast<uint32_t>(chunk[first / 8 + 1]) << 8;
  return widen_narrow(bits >> first % 8 & ((1u << width) - 1), format);
}

// Of an element in a byte of tensor memory, as tcgen05.cp decompresses it: four bits stand in bits
// 2 to 5, six in the lower ones.
uint8_t contained(std::byte byte, NarrowElement format) {
  const auto bits = static_cast<uint32_t>(byte);
  return widen_narrow(format == NarrowElement::E2m1 ? bits >> 2 & 15 : bits & 63, format);
}

uint32_t u(int value) {
  return static_cast<uint32_t>(value);
}

// Where the operand's chunks of 16 bytes lie in shared memory.
SharedOperand chunks_of(const Operand& o) {
  const bool along_depth = o.major() == Major::Depth;
  return {
      .rows = descriptor_rows(decode_descriptor(o.descriptor()), o.major(), o.block->shared.data()),
      .groups = (along_depth ? o.outer : o.depth()) / 8,
      .chunks = ((along_depth ? o.depth() : o.outer) + o.per_chunk() - 1) / o.per_chunk()};
}

// The same, checked; false after a fault.
bool shared_rows(const Operand& o, OperandRows& rows) {
  const SharedOperand operand = chunks_of(o);
  rows = operand.rows;
  uint64_t offset = 0;
  const std::string why =
      outside_shared(rows, operand.groups, operand.chunks, o.block->shared.size(), offset);
  if (why.empty()) return true;
  return o.product->place.fault(FaultKind::InvalidDescriptor,
                                fmt::format("the descriptor of {} {}", o.is_a ? 'A' : 'B', why),
                                offset, {describe(decode_descriptor(o.descriptor()))});
}

// Elements `first` to `first + count` of the outer dimension, from shared memory into rows.
void copy_rows(const Operand& o, const OperandRows& from, int first, int count, CopiedRows& out) {
  const int per_chunk = o.per_chunk(), bytes = element_bits(o.element()) / 8;
  const bool along_depth = o.major() == Major::Depth;
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < o.depth(); ++k) {
      const int row = along_depth ? first + i : k, along = along_depth ? k : first + i;
      const std::byte* chunk = from.at(u(row / 8), u(row % 8), u(along / per_chunk));
      std::byte* to = out.bytes[i] + k * bytes;
      if (o.narrow() != NarrowElement::None)
        *to = static_cast<std::byte>(narrow_at(chunk, along % per_chunk, o.narrow()));
      else
        std::memcpy(to, chunk + along % per_chunk * bytes, static_cast<size_t>(bytes));
    }
}

// tf32 with M or N along the rows, in the 128-byte swizzle of 32-byte units (section 9.7.16.10.6):
// 32 elements of four k are an atom, and bits 5-6 of an address take bits 7-8.
bool copy_wide_units(const Operand& o, int first, int count, CopiedRows& out) {
  const MatrixDescriptor d = decode_descriptor(o.descriptor());
  const size_t size = o.block->shared.size();
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < o.depth(); ++k) {
      const uint32_t outer = u(first + i);
      const uint32_t linear = d.start + outer % 32 * 4 + outer / 32 * d.leading_offset +
                              u(k % 4) * 128 + u(k / 4) * d.stride_offset;
      const uint32_t offset = linear ^ (linear >> 2 & 0x60);
      if (offset + 4 > size)
        return o.product->place.fault(
            FaultKind::InvalidDescriptor,
            fmt::format("the descriptor of {} reaches outside the block's shared memory: offset "
                        "{:#x}, shared memory {:#x} bytes",
                        o.is_a ? 'A' : 'B', offset, size),
            offset, {describe(d)});
      std::memcpy(out.bytes[i] + 4 * k, o.block->shared.data() + offset, 4);
    }
  return true;
}

}  // namespace

bool operand_rows(const Operand& o, int first, int count, CopiedRows& space, OperandRows& rows) {
  if (has_wide_units(o.descriptor())) {
    rows = space.rows();
    return copy_wide_units(o, first, count, space);
  }
  if (!shared_rows(o, rows)) return false;
  if (o.copied()) {
    copy_rows(o, rows, first, count, space);
    rows = space.rows();
  } else if (o.major() == Major::Depth) {
    rows = rows.from_group(u(first / 8));
  } else {
    rows.start += rows.distance(u(first / o.per_chunk()));
  }
  return true;
}

std::optional<SharedOperand> checked_operand(const Operand& o) {
  if (has_wide_units(o.descriptor()) || (!o.is_a && o.product->zero_columns)) return std::nullopt;
  const SharedOperand operand = chunks_of(o);
  if (reach(operand.rows, operand.groups, operand.chunks) > o.block->shared.size())
    return std::nullopt;
  return operand;
}

OperandRows tensor_rows(const TensorProduct& product, const Part& part, TensorMemory& memory,
                        CopiedRows& out) {
  Part from = part;
  if (part.spread) from.first_group = product.a_place.lane / 8;
  for (int row = 0; row < part.rows; ++row) {
    std::byte bytes[kStepBytes];
    for (uint32_t column = 0; column < kStepBytes / 4; ++column)
      std::memcpy(bytes + 4 * column, &memory.word(from.lane(row), product.a_place.column + column),
                  4);
    if (product.shape.packed)
      for (int k = 0; k < 2 * kStepBytes; ++k)
        out.bytes[row][k] = static_cast<std::byte>(narrow_at(bytes, k, product.shape.narrow_a));
    else if (product.shape.narrow_a != NarrowElement::None)
      for (int k = 0; k < kStepBytes; ++k)
        out.bytes[row][k] = static_cast<std::byte>(contained(bytes[k], product.shape.narrow_a));
    else
      std::memcpy(out.bytes[row], bytes, kStepBytes);
  }
  return out.rows();
}

OperandRows spread_rows(const TensorProduct& product, const Part& part, TensorMemory& memory,
                        const CopiedRows& stored, CopiedRows& out) {
  // Four bits for a chunk of four units: two indices of two bits, the lower one for the first unit
  // that is stored. A unit is an element, but two of them where they have four bits; a chunk of
  // tf32 is two elements, of which the bit above the lowest names one.
  //   words of f16 and tf32   lane r % 8 + 8 (c / 4), 16 further for rows 16 and up of 32; rows 8
  //   to
  //                           15 and 24 to 31 in the upper half
  //   of narrower types       lane r, chunks 8 and up in the next column
  const TileElement element = product.shape.a;
  const int bits = element_bits(element), bytes = bits / 8;
  const bool words = element == TileElement::Tf32, narrow = bits == 8;
  const int unit = (product.shape.packed ? 2 : 1) * bytes;
  const int stored_bytes = product.shape.packed ? 64 : kStepBytes;
  const int chunks = stored_bytes / (words ? bytes : 2 * unit);
  for (int row = 0; row < part.rows; ++row) {
    const uint32_t lane = part.lane(row);
    std::memset(out.bytes[row], 0, CopiedRows::kBytes);
    for (int c = 0; c < chunks; ++c) {
      const uint32_t from = narrow ? lane : lane / 16 * 16 + lane % 8 + u(c / 4) * 8;
      const uint32_t column =
          product.metadata.column + (narrow ? u(c / 8) : u(product.shape.selector));
      const uint32_t place = narrow ? u(c % 8) : lane % 16 / 8 * 4 + u(c % 4);
      const uint32_t indices = memory.word(from, column) >> (4 * place) & 15;
      const std::byte* source = stored.bytes[row];
      if (words) {
        std::memcpy(out.bytes[row] + (2 * c + (indices >> 1 & 1)) * bytes, source + c * bytes,
                    static_cast<size_t>(bytes));
        continue;
      }
      for (int k = 0; k < 2; ++k)
        std::memcpy(out.bytes[row] + (4 * c + static_cast<int>(indices >> 2 * k & 3)) * unit,
                    source + (2 * c + k) * unit, static_cast<size_t>(unit));
    }
  }
  return out.rows();
}

bool ZeroColumns::is_zero(int column) const {
  if ((bits >> 39 & 1) == 0) return false;
  const int wide = columns / (128 / rows), part = column / wide;
  const auto field = [&](int first) { return static_cast<int>(bits >> first & 0xff); };
  const bool zeros_first = (bits >> (32 + part) & 1) != 0;
  // Zeros and columns in use take turns, and the first ones of the pattern are left out.
  const int zeros = field(40) + 1, used = field(48) + 1;
  const int at = (column % wide + field(8 * part)) % (zeros + used);
  return zeros_first ? at < zeros : at >= used;
}

std::string outside_shared(const OperandRows& rows, int groups, int chunks, size_t shared_bytes,
                           uint64_t& offset) {
  if (reach(rows, groups, chunks) <= shared_bytes) return {};
  // The bound counts whole lines of 128 bytes; look at each row before saying so.
  for (int g = 0; g < groups; ++g)
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < chunks; ++c)
        if (offset = rows.offset(u(g), u(r), u(c)); offset + 16 > shared_bytes)
          return fmt::format(
              "reaches outside the block's shared memory: offset {:#x}, shared memory {:#x} bytes",
              offset, shared_bytes);
  return {};
}

}  // namespace weft::emulator
