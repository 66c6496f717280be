// SPDX-License-Identifier: Apache-2.0

// For tests: operands of matrix instructions by their definitions, element by element. Values come
// from decoding each format field by field; places come from the manual's table of canonical
// layouts (PTX ISA 9.0, section 9.7.15.5.1.2, shapes and strides in elements). Shares no code with
// what it tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "ptxbench/emulator/tile/element.h"
#include "ptxbench/emulator/tile/matrix_descriptor.h"

namespace weft::emulator {

inline double decode(TileElement element, uint32_t bits) {
  const auto fields = [&](int exponent_bits, int mantissa_bits, int bias) {
    const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
    const int exponent = static_cast<int>((bits >> mantissa_bits) & ((1u << exponent_bits) - 1));
    const double sign = (bits >> (exponent_bits + mantissa_bits)) & 1 ? -1 : 1;
    const double fraction = std::ldexp(mantissa, -mantissa_bits);
    return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                 : std::ldexp(1 + fraction, exponent - bias));
  };
  switch (element) {
    case TileElement::F16:
      return fields(5, 10, 15);
    case TileElement::Bf16:
      return fields(8, 7, 127);
    case TileElement::Tf32:
      bits &= ~0x1fffu;
      return fields(8, 23, 127);
    case TileElement::E4m3:
      return fields(4, 3, 7);
    case TileElement::E5m2:
      return fields(5, 2, 15);
    case TileElement::S8:
      return static_cast<int8_t>(bits);
    case TileElement::U8:
      return bits;
    case TileElement::S4:
      return static_cast<int>(bits ^ 8) - 8;
    case TileElement::U4:
      return bits;
    case TileElement::B1:
      return bits;
  }
  return 0;
}

// Random bits of a finite value of moderate size; low bits that tf32 ignores are set.
inline uint32_t draw(TileElement element, std::mt19937& random) {
  switch (element) {
    case TileElement::F16:
      return (random() & 0x83ff) | ((10 + random() % 8) << 10);
    case TileElement::Bf16:
      return (random() & 0x807f) | ((122 + random() % 8) << 7);
    case TileElement::Tf32:
      return (random() & 0x807fffff) | ((122 + random() % 8) << 23);
    case TileElement::E4m3:
      return random() % 0x7f | (random() & 0x80);
    case TileElement::E5m2:
      return random() % 0x50 | (random() & 0x80);
    case TileElement::S4:
    case TileElement::U4:
      return random() & 0xf;
    case TileElement::B1:
      return random() & 1;
    default:
      return random() & 0xff;
  }
}

inline void put(std::byte* memory, uint32_t element_index, int bits, uint32_t value) {
  if (bits >= 8) {
    std::memcpy(memory + element_index * (bits / 8), &value, bits / 8);
    return;
  }
  const uint32_t first = element_index * bits;
  for (int i = 0; i < bits; ++i) {
    auto& byte = reinterpret_cast<uint8_t&>(memory[(first + i) / 8]);
    const uint8_t bit = static_cast<uint8_t>(1u << ((first + i) % 8));
    byte = static_cast<uint8_t>((value >> i) & 1 ? byte | bit : byte & ~bit);
  }
}

// One mode of a nested layout: the coordinate is split by the shapes, first one fastest.
struct Mode {
  std::vector<uint32_t> shape, stride;
  uint32_t operator()(uint32_t coordinate) const {
    uint32_t offset = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      const uint32_t part = i + 1 < shape.size() ? coordinate % shape[i] : coordinate;
      coordinate /= shape[i];
      offset += part * stride[i];
    }
    return offset;
  }
};

struct Canonical {
  Mode outer, depth;  // M or N, and K; offsets in elements
  int swizzle_bits;   // B of Swizzle<B, 4, 3>
  uint64_t descriptor;
};

// The manual's table: T elements make 128 bits; LBO and SBO in elements here.
inline Canonical canonical(SwizzleMode mode, Major major, uint32_t t, uint32_t start,
                           uint32_t outer_size) {
  const int swizzle_bits = mode == SwizzleMode::None      ? 0
                           : mode == SwizzleMode::Bytes32 ? 1
                           : mode == SwizzleMode::Bytes64 ? 2
                                                          : 3;
  const uint32_t w = 1u << swizzle_bits;
  Canonical c;
  c.swizzle_bits = swizzle_bits;
  uint32_t leading, stride;
  if (major == Major::Depth) {
    stride = 8 * w * t;  // dense: the next eight rows follow
    leading = mode == SwizzleMode::None ? stride * (outer_size / 8) : t;
    c.outer = {{8, 1u << 20}, {w * t, stride}};
    c.depth = {{t, 1u << 20}, {1, leading}};
  } else if (mode == SwizzleMode::None) {
    stride = 8 * t;  // ((T,1,m),(8,k)) : ((1,T,SBO),(1T,LBO))
    leading = stride * (outer_size / t);
    c.outer = {{t, 1u << 20}, {1, stride}};
    c.depth = {{8, 1u << 20}, {t, leading}};
  } else {
    stride = 8 * w * t;    // ((T,W,m),(8,k)) : ((1,T,LBO),(W T,SBO))
    leading = stride * 2;  // two groups of eight k in a step of sixteen
    c.outer = {{t * w, 1u << 20}, {1, leading}};
    c.depth = {{8, 1u << 20}, {w * t, stride}};
  }
  const auto encode = [&](uint32_t elements) { return uint64_t{elements / t}; };  // of 16 bytes
  c.descriptor = (start >> 4) | encode(leading) << 16 | encode(stride) << 32 | uint64_t(mode) << 62;
  return c;
}

// Fills shared memory with an operand and returns its values by (outer, k).
inline std::vector<double> place(std::byte* shared, const Canonical& layout, uint32_t start,
                                 TileElement element, int outer, int depth, std::mt19937& random) {
  const int bits = element_bits(element);
  std::vector<double> values(outer * depth);
  for (int i = 0; i < outer; ++i)
    for (int k = 0; k < depth; ++k) {
      const uint32_t value = draw(element, random);
      values[i * depth + k] = decode(element, value);
      const uint64_t bit = uint64_t{start} * 8 + uint64_t{layout.outer(i) + layout.depth(k)} * bits;
      // Swizzle<B, 4, 3>: byte address bits 4 and up take bits 7 and up.
      uint64_t byte = bit / 8;
      byte ^= ((byte >> 7) & ((1u << layout.swizzle_bits) - 1)) << 4;
      put(shared, static_cast<uint32_t>((byte * 8 + bit % 8) / bits), bits, value);
    }
  return values;
}

}  // namespace weft::emulator
