// SPDX-License-Identifier: Apache-2.0

// Logic, shifts and byte permutation of one lane (PTX ISA 9.7.8 and 9.7.9.7). Shift amounts are
// unsigned and beyond the width the result is all fill.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "ptxbench/emulator/numeric/bit_fields.h"

namespace weft::emulator::numeric {

struct And {
  template <std::unsigned_integral T>
  constexpr T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <std::unsigned_integral T>
  constexpr T operator()(T a, T b) const {
    return a | b;
  }
};
struct Xor {
  template <std::unsigned_integral T>
  constexpr T operator()(T a, T b) const {
    return a ^ b;
  }
};
struct Complement {
  template <std::unsigned_integral T>
  constexpr T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
// C's negation: 1 for zero, else 0.
struct LogicalNot {
  template <std::unsigned_integral T>
  constexpr T operator()(T a) const {
    return a == 0 ? T{1} : T{0};
  }
};

struct ShiftLeft {
  template <std::unsigned_integral T>
  constexpr T operator()(T a, uint32_t amount) const {
    constexpr uint32_t kWidth = sizeof(T) * 8;
    return amount < kWidth ? static_cast<T>(a << (amount & (kWidth - 1))) : T{0};
  }
};
// Fills with the sign for signed types.
struct ShiftRight {
  template <std::integral T>
  constexpr T operator()(T a, uint32_t amount) const {
    constexpr uint32_t kTop = sizeof(T) * 8 - 1;
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(a >> (amount < kTop ? amount : kTop));
    else
      return amount <= kTop ? static_cast<T>(a >> (amount & kTop)) : T{0};
  }
};

// The upper (left) or lower (right) word of the pair b:a, shifted.
template <Excess kExcess>
struct FunnelLeft {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const uint32_t n = kExcess == Excess::Clamp ? (c < 32 ? c : 32) : c & 31;
    const uint64_t pair = uint64_t{b} << 32 | a;
    return static_cast<uint32_t>((pair << n) >> 32);
  }
};
template <Excess kExcess>
struct FunnelRight {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const uint32_t n = kExcess == Excess::Clamp ? (c < 32 ? c : 32) : c & 31;
    const uint64_t pair = uint64_t{b} << 32 | a;
    return static_cast<uint32_t>(pair >> n);
  }
};

// Any function of three bits: bit 4a + 2b + c of the table is the result. A sum of the chosen
// minterms.
constexpr uint32_t look_up(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (uint32_t term = 0; term < 8; ++term) {
    const uint32_t chosen = 0u - (table >> term & 1);
    result |= chosen & (term & 4 ? a : ~a) & (term & 2 ? b : ~b) & (term & 1 ? c : ~c);
  }
  return result;
}

// prmt: each nibble of the selector names a byte of b:a; its top bit asks for that byte's sign
// instead.
constexpr uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t pair = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t nibble = selector >> (4 * i) & 15;
    const auto byte = static_cast<uint8_t>(pair >> (8 * (nibble & 7)));
    const auto sign = static_cast<uint8_t>(byte & 0x80 ? 0xff : 0);
    result |= static_cast<uint32_t>(nibble & 8 ? sign : byte) << (8 * i);
  }
  return result;
}

// Selectors of the named modes by the low two bits of c, as in the manual's table (lowest nibble
// first is the lowest byte of the result).
struct PermuteMode {
  std::string_view name;
  std::array<uint16_t, 4> selectors;
};
inline constexpr PermuteMode kPermuteModes[] = {
    {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
    {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
    {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}},
};

}  // namespace weft::emulator::numeric
