// SPDX-License-Identifier: Apache-2.0

// Counting, finding, extracting and inserting bits (PTX ISA 9.7.1.14 to 9.7.1.23). Positions and
// widths beyond the register follow the manual's pseudo-code, which never shifts by too much. It
// restricts them to their low 8 bits; an H200 does so for 32-bit registers only, and takes all 32
// bits of a position or width in 64-bit ones.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace weft::emulator::numeric {

struct PopulationCount {
  template <std::unsigned_integral T>
  constexpr uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::popcount(a));
  }
};

struct LeadingZeros {
  template <std::unsigned_integral T>
  constexpr uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::countl_zero(a));
  }
};

// Position of the highest bit that differs from the sign; of the highest 1 for unsigned types.
// 0xffffffff when there is none.
struct FindBit {
  template <std::integral T>
  constexpr uint32_t operator()(T a) const {
    using U = std::make_unsigned_t<T>;
    const U bits = a < 0 ? static_cast<U>(~a) : static_cast<U>(a);
    return static_cast<uint32_t>(static_cast<int>(sizeof(T)) * 8 - 1 - std::countl_zero(bits));
  }
};

// The left shift that brings that bit to the top.
struct FindBitShift {
  template <std::integral T>
  constexpr uint32_t operator()(T a) const {
    const uint32_t position = FindBit{}(a);
    return position == 0xffffffffu ? position : static_cast<uint32_t>(sizeof(T) * 8 - 1) - position;
  }
};

struct ReverseBits {
  constexpr uint32_t operator()(uint32_t a) const {
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
    return a >> 16 | a << 16;
  }
  constexpr uint64_t operator()(uint64_t a) const {
    return static_cast<uint64_t>((*this)(static_cast<uint32_t>(a))) << 32 |
           (*this)(static_cast<uint32_t>(a >> 32));
  }
};

// The offset-th set bit of `mask` from bit `base` on, upwards for positive offsets and downwards
// for negative ones; offset 0 asks whether the base bit itself is set.
struct FindNthSet {
  constexpr uint32_t operator()(uint32_t mask, uint32_t base, int32_t offset) const {
    if (base > 31) return 0xffffffffu;
    if (offset == 0) return mask >> base & 1 ? base : 0xffffffffu;
    int64_t remaining = offset > 0 ? int64_t{offset} - 1 : -int64_t{offset} - 1;
    const int step = offset > 0 ? 1 : -1;
    for (int position = static_cast<int>(base); position >= 0 && position < 32; position += step)
      if (mask >> position & 1 && remaining-- == 0) return static_cast<uint32_t>(position);
    return 0xffffffffu;
  }
};

// The low `count` bits set; all of them from the register's width on.
template <std::unsigned_integral U>
constexpr U low_bits(uint32_t count) {
  constexpr uint32_t kWidth = sizeof(U) * 8;
  return count >= kWidth ? static_cast<U>(~U{0})
                         : static_cast<U>((U{1} << (count & (kWidth - 1))) - 1);
}

// A position or length as the device sees it, brought to the width where larger ones mean the same.
template <typename T>
constexpr uint32_t field_amount(uint32_t amount) {
  constexpr uint32_t kWidth = sizeof(T) * 8;
  const uint32_t seen = kWidth == 64 ? amount : amount & 0xff;
  return seen < kWidth ? seen : kWidth;
}

struct ExtractField {
  template <std::integral T>
  constexpr T operator()(T a, uint32_t b, uint32_t c) const {
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t kTop = sizeof(T) * 8 - 1;
    const uint32_t position = field_amount<T>(b), length = field_amount<T>(c);
    const U mask = low_bits<U>(length);
    const U field = position > kTop ? U{0} : static_cast<U>(static_cast<U>(a) >> (position & kTop));
    if constexpr (std::is_signed_v<T>) {
      const uint32_t last = position + length - 1;
      const bool sign = length != 0 && (static_cast<U>(a) >> (last > kTop ? kTop : last) & 1);
      // Bits past the register's top also take the sign.
      const U present = position > kTop ? U{0} : static_cast<U>(~U{0}) >> (position & kTop);
      return static_cast<T>((field & mask) | (sign ? static_cast<U>(~(mask & present)) : U{0}));
    } else {
      return static_cast<T>(field & mask);
    }
  }
};

struct InsertField {
  template <std::unsigned_integral U>
  constexpr U operator()(U a, U b, uint32_t c, uint32_t d) const {
    constexpr uint32_t kTop = sizeof(U) * 8 - 1;
    const uint32_t position = field_amount<U>(c), length = field_amount<U>(d);
    if (position > kTop) return b;
    const U mask = static_cast<U>(low_bits<U>(length) << position);
    return static_cast<U>((b & ~mask) | (static_cast<U>(a << position) & mask));
  }
};

// `.clamp` treats amounts of 32 and more as 32; `.wrap` takes them modulo 32.
enum class Excess { Clamp, Wrap };

// Keeps the low b bits of a and fills the rest with their sign (T signed) or zero.
template <std::integral T, Excess kExcess>
struct ExtendSign {
  constexpr uint32_t operator()(uint32_t a, uint32_t b) const {
    const uint32_t width = b & 31;
    const bool whole = kExcess == Excess::Clamp && b >= 32;
    const uint32_t above = whole ? 0 : ~uint32_t{0} << width;
    const bool sign = std::is_signed_v<T> && width != 0 && !whole && (a >> ((width - 1) & 31) & 1);
    return (a & ~above) | (sign ? above : 0);
  }
};

// b ones starting at bit a.
template <Excess kExcess>
struct MakeMask {
  constexpr uint32_t operator()(uint32_t a, uint32_t b) const {
    const uint32_t position = a & 31, width = b & 31;
    const bool position_over = kExcess == Excess::Clamp && a >= 32;
    const bool width_over = kExcess == Excess::Clamp && b >= 32;
    const uint32_t from = position_over ? 0 : ~uint32_t{0} << position;
    uint32_t past = position + width >= 32 ? 0 : ~uint32_t{0} << ((position + width) & 31);
    if (position + width >= 32 || position_over || width_over)
      past = 0;
    else if (width == 0)
      past = ~uint32_t{0};
    return from & ~past;
  }
};

}  // namespace weft::emulator::numeric
