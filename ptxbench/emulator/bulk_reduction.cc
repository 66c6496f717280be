// SPDX-License-Identifier: Apache-2.0

// Reductions of bulk copies: value functions, and one loop that makes each of them atomic.

#include "ptxbench/emulator/bulk_reduction.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/floats.h"

namespace weft::emulator {

namespace {

using isa::Type;

// Half-precision values keep their bits; arithmetic is done in float, whose 24 bits are enough for
// one correctly rounded addition of 11-bit or 8-bit significands.
struct F16 {
  uint16_t bits;
  float value() const { return f16_to_float(bits); }
  static F16 from(float v) { return {std::isnan(v) ? uint16_t{0x7fff} : float_to_f16(v)}; }
};
struct Bf16 {
  uint16_t bits;
  float value() const { return bf16_to_float(bits); }
  static Bf16 from(float v) { return {std::isnan(v) ? uint16_t{0x7fff} : float_to_bf16(v)}; }
};

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, F16> || std::is_same_v<T, Bf16>;

// Subnormals become zero of the same sign: cp.reduce.async.bulk.add.f32 flushes.
float flushed(float v) {
  return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v;
}

struct And {
  template <typename T>
  static T of(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static T of(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static T of(T a, T b) {
    return a ^ b;
  }
};

struct Add {
  template <typename T>
  static T of(T a, T b) {
    if constexpr (kIsHalf<T>)
      return T::from(a.value() + b.value());
    else if constexpr (std::is_same_v<T, float>)
      return flushed(flushed(a) + flushed(b));
    else
      return a + b;
  }
};
// The result runs from 0 to the source's value and starts over.
struct Inc {
  static uint32_t of(uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; }
};
struct Dec {
  static uint32_t of(uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; }
};

// A NaN loses against a number, and -0 is less than +0.
template <bool kLess, typename T>
T choose_half(T a, T b) {
  if (std::isnan(a.value()) && std::isnan(b.value())) return {0x7fff};
  if (std::isnan(a.value())) return b;
  if (std::isnan(b.value())) return a;
  if (a.value() == b.value()) return std::signbit(a.value()) == kLess ? a : b;
  return (a.value() < b.value()) == kLess ? a : b;
}
struct Min {
  template <typename T>
  static T of(T a, T b) {
    if constexpr (kIsHalf<T>)
      return choose_half<true>(a, b);
    else
      return std::min(a, b);
  }
};
struct Max {
  template <typename T>
  static T of(T a, T b) {
    if constexpr (kIsHalf<T>)
      return choose_half<false>(a, b);
    else
      return std::max(a, b);
  }
};

template <size_t kBytes>
using Word =
    std::conditional_t<kBytes == 2, uint16_t, std::conditional_t<kBytes == 4, uint32_t, uint64_t>>;

template <typename Operation, typename T>
void combine(std::byte* to, const std::byte* from, size_t bytes) {
  using Bits = Word<sizeof(T)>;
  for (size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T operand;
    std::memcpy(&operand, from + at, sizeof operand);
    std::atomic_ref<Bits> cell(*reinterpret_cast<Bits*>(to + at));
    Bits before = cell.load(std::memory_order_relaxed);
    while (!cell.compare_exchange_weak(
        before, std::bit_cast<Bits>(Operation::of(std::bit_cast<T>(before), operand)),
        std::memory_order_relaxed)) {
    }
  }
}

struct Row {
  std::string_view operation;
  Type type;
  Combine function;
};

constexpr Row kRows[] = {
    {"add", Type::U32, combine<Add, uint32_t>}, {"add", Type::S32, combine<Add, uint32_t>},
    {"add", Type::U64, combine<Add, uint64_t>}, {"add", Type::F32, combine<Add, float>},
    {"add", Type::F64, combine<Add, double>},   {"add", Type::F16, combine<Add, F16>},
    {"add", Type::Bf16, combine<Add, Bf16>},    {"min", Type::U32, combine<Min, uint32_t>},
    {"min", Type::S32, combine<Min, int32_t>},  {"min", Type::U64, combine<Min, uint64_t>},
    {"min", Type::S64, combine<Min, int64_t>},  {"min", Type::F16, combine<Min, F16>},
    {"min", Type::Bf16, combine<Min, Bf16>},    {"max", Type::U32, combine<Max, uint32_t>},
    {"max", Type::S32, combine<Max, int32_t>},  {"max", Type::U64, combine<Max, uint64_t>},
    {"max", Type::S64, combine<Max, int64_t>},  {"max", Type::F16, combine<Max, F16>},
    {"max", Type::Bf16, combine<Max, Bf16>},    {"inc", Type::U32, combine<Inc, uint32_t>},
    {"dec", Type::U32, combine<Dec, uint32_t>}, {"and", Type::B32, combine<And, uint32_t>},
    {"or", Type::B32, combine<Or, uint32_t>},   {"xor", Type::B32, combine<Xor, uint32_t>},
    {"and", Type::B64, combine<And, uint64_t>}, {"or", Type::B64, combine<Or, uint64_t>},
    {"xor", Type::B64, combine<Xor, uint64_t>},
};

}  // namespace

Combine find_reduction(std::string_view operation, Type type) {
  for (const Row& row : kRows)
    if (row.operation == operation && row.type == type) return row.function;
  return nullptr;
}

Type reduction_type(std::string_view operation, TensorElement element) {
  const bool bitwise = operation == "and" || operation == "or" || operation == "xor";
  switch (element) {
    case TensorElement::U32:
      return bitwise ? Type::B32 : Type::U32;
    case TensorElement::S32:
      return bitwise ? Type::B32 : Type::S32;
    case TensorElement::U64:
      return bitwise ? Type::B64 : Type::U64;
    // Two's complement: signed addition is unsigned addition.
    case TensorElement::S64:
      return bitwise ? Type::B64 : operation == "add" ? Type::U64 : Type::S64;
    case TensorElement::F16:
      return Type::F16;
    case TensorElement::Bf16:
      return Type::Bf16;
    case TensorElement::F32:
    case TensorElement::F32Ftz:
      return Type::F32;
    case TensorElement::F64:
      return Type::F64;
    default:
      return Type::None;
  }
}

}  // namespace weft::emulator
