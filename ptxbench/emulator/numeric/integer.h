// SPDX-License-Identifier: Apache-2.0

// Integer arithmetic of one lane (PTX ISA 9.7.1): pure functions that are total, because they also
// run on whatever inactive lanes hold. Sums and products go through unsigned types, where wrapping
// is defined; 16-bit products also through 32 bits, since two of them overflow an int.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace weft::emulator::numeric {

template <std::integral T>
using Unsigned = std::make_unsigned_t<T>;

// The unsigned type that arithmetic on T runs in: never narrower than int.
template <std::integral T>
using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, Unsigned<T>>;

template <std::integral T>
using Double = std::conditional_t<
    std::is_signed_v<T>,
    std::conditional_t<sizeof(T) == 2, int32_t,
                       std::conditional_t<sizeof(T) == 4, int64_t, __int128>>,
    std::conditional_t<sizeof(T) == 2, uint32_t,
                       std::conditional_t<sizeof(T) == 4, uint64_t, unsigned __int128>>>;

template <std::integral T>
inline constexpr int kBits = static_cast<int>(sizeof(T)) * 8;

struct Add {
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
  }
};

struct Subtract {
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
  }
};

inline constexpr int32_t clamp_to_s32(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}

struct AddSaturated {
  constexpr int32_t operator()(int32_t a, int32_t b) const { return clamp_to_s32(int64_t{a} + b); }
};

struct SubtractSaturated {
  constexpr int32_t operator()(int32_t a, int32_t b) const { return clamp_to_s32(int64_t{a} - b); }
};

struct MultiplyLow {
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
  }
};

struct MultiplyHigh {
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>((static_cast<Double<T>>(a) * static_cast<Double<T>>(b)) >> kBits<T>);
  }
};

struct MultiplyWide {
  template <std::integral T>
  constexpr Double<T> operator()(T a, T b) const {
    return static_cast<Double<T>>(a) * static_cast<Double<T>>(b);
  }
};

struct MadLow {
  template <std::integral T>
  constexpr T operator()(T a, T b, T c) const {
    return Add{}(MultiplyLow{}(a, b), c);
  }
};

struct MadHigh {
  template <std::integral T>
  constexpr T operator()(T a, T b, T c) const {
    return Add{}(MultiplyHigh{}(a, b), c);
  }
};

struct MadHighSaturated {
  constexpr int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return clamp_to_s32(int64_t{MultiplyHigh{}(a, b)} + c);
  }
};

struct MadWide {
  template <std::integral T>
  constexpr Double<T> operator()(T a, T b, Double<T> c) const {
    return Add{}(MultiplyWide{}(a, b), c);
  }
};

// The 48-bit product of the low 24 bits of two registers, sign- or zero-extended to 64.
template <std::integral T>
constexpr Double<T> product24(T a, T b) {
  const auto extend = [](T x) {
    return static_cast<T>(static_cast<T>(static_cast<uint32_t>(x) << 8) >> 8);
  };
  return static_cast<Double<T>>(extend(a)) * static_cast<Double<T>>(extend(b));
}

struct Multiply24Low {
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(product24(a, b));
  }
};

// Bits 47 to 16 of the product.
struct Multiply24High {
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(product24(a, b) >> 16);
  }
};

struct Mad24Low {
  template <std::integral T>
  constexpr T operator()(T a, T b, T c) const {
    return Add{}(Multiply24Low{}(a, b), c);
  }
};

struct Mad24High {
  template <std::integral T>
  constexpr T operator()(T a, T b, T c) const {
    return Add{}(Multiply24High{}(a, b), c);
  }
};

struct Mad24HighSaturated {
  constexpr int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return clamp_to_s32(int64_t{Multiply24High{}(a, b)} + c);
  }
};

// c plus the distance between a and b; the distance is taken in unsigned arithmetic so that the
// most negative value does not overflow.
struct Sad {
  template <std::integral T>
  constexpr T operator()(T a, T b, T c) const {
    using U = Unsigned<T>;
    const U distance = a < b ? static_cast<U>(static_cast<U>(b) - static_cast<U>(a))
                             : static_cast<U>(static_cast<U>(a) - static_cast<U>(b));
    return Add{}(static_cast<T>(distance), c);
  }
};

// The manual leaves division by zero to the machine. The division sequences of the device's
// compiler end in "all ones when the divisor is zero", for quotient and remainder alike. The one
// signed overflow wraps: the sequences divide magnitudes and restore the sign.
// Up to 32 bits the quotient goes through double, which the vector unit divides: rounding it cannot
// carry it to the next whole number, because a quotient that is not whole is at least 1/b below it.
template <std::integral T>
constexpr T quotient_of(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(a / b);
  } else if constexpr (sizeof(T) == 4 && std::is_unsigned_v<T>) {
    // Adding 2^52 leaves a whole number in the low bits of the pattern, and taking it off brings
    // one from there.
    const auto whole = [](uint32_t x) {
      return std::bit_cast<double>(uint64_t{x} | 0x4330000000000000ull) - 0x1p52;
    };
    return static_cast<T>(std::bit_cast<uint64_t>(__builtin_trunc(whole(a) / whole(b)) + 0x1p52));
  } else {
    return static_cast<T>(static_cast<int32_t>(static_cast<double>(a) / static_cast<double>(b)));
  }
}

struct Divide {
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    if constexpr (std::is_signed_v<T>) {
      const bool minus_one = b == -1;
      const T quotient = quotient_of<T>(a, (b == 0) | minus_one ? T{1} : b);
      return b == 0 ? T{-1} : minus_one ? Subtract{}(T{0}, quotient) : quotient;
    } else {
      return b == 0 ? static_cast<T>(~T{0}) : quotient_of<T>(a, b == 0 ? T{1} : b);
    }
  }
};

struct Remainder {
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    const T remainder = Subtract{}(a, MultiplyLow{}(Divide{}(a, b), b));
    return b == 0 ? static_cast<T>(~T{0}) : remainder;
  }
};

struct Negate {
  template <std::integral T>
  constexpr T operator()(T a) const {
    return Subtract{}(T{0}, a);
  }
};

struct Absolute {
  template <std::integral T>
  constexpr T operator()(T a) const {
    return a < 0 ? Negate{}(a) : a;
  }
};

struct Minimum {
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};

struct Maximum {
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

// `.relu`: negative results become 0.
template <typename Operation>
struct Relu {
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    const T value = Operation{}(a, b);
    return value < 0 ? T{0} : value;
  }
};

// Applies an operation to each half of a 32-bit register.
template <typename Operation, std::integral Half>
struct OnHalves {
  constexpr uint32_t operator()(uint32_t a, uint32_t b) const {
    const auto low = static_cast<uint16_t>(Operation{}(static_cast<Half>(a), static_cast<Half>(b)));
    const auto high =
        static_cast<uint16_t>(Operation{}(static_cast<Half>(a >> 16), static_cast<Half>(b >> 16)));
    return static_cast<uint32_t>(high) << 16 | low;
  }
};

// Dot products into 32 bits: four bytes with four bytes, or two halves with two bytes of b.
template <typename A, typename B>
struct DotBytes {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int i = 0; i < 4; ++i)
      c += static_cast<uint32_t>(static_cast<int32_t>(static_cast<A>(a >> (8 * i))) *
                                 static_cast<int32_t>(static_cast<B>(b >> (8 * i))));
    return c;
  }
};

template <typename A, typename B, int kFirstByte>
struct DotHalves {
  constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int i = 0; i < 2; ++i)
      c += static_cast<uint32_t>(static_cast<int32_t>(static_cast<A>(a >> (16 * i))) *
                                 static_cast<int32_t>(static_cast<B>(b >> (8 * (kFirstByte + i)))));
    return c;
  }
};

}  // namespace weft::emulator::numeric
