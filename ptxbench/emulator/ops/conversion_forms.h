// SPDX-License-Identifier: Apache-2.0

// The families of `cvt`, and what they share: bringing a value from one register width to another.
#pragma once

#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/numeric/narrow_formats.h"

namespace weft::emulator {

// Op::small of the converting handlers.
inline constexpr uint32_t kRoundingBits = 7;  // a NarrowRounding
inline constexpr uint32_t kFlush = 8, kSaturate = 16, kRelu = 32, kSatFinite = 64;
uint32_t conversion_flags(const ptx::Instruction& instruction);

inline numeric::NarrowRounding rounding_of(uint32_t flags) {
  return static_cast<numeric::NarrowRounding>(flags & kRoundingBits);
}
inline numeric::Overflow overflow_of(uint32_t flags) {
  return flags & kSatFinite ? numeric::Overflow::Finite : numeric::Overflow::Infinity;
}

bool is_integer(isa::Type type);

// d = the low bits(type) of a, extended by the type's sign to the width of d.
Handler extension(isa::Type type, int from_bits, int to_bits);
// A slot of `bits` with the value of `source` as `type`; `source` itself when it fits already.
Slot fitted(Lowering& lowering, Lowering::Sized source, isa::Type type, int bits);

Result<Done> convert_integer(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> convert_float(Lowering& lowering, const ptx::Instruction& instruction);
// cvt.rs (ops/stochastic_conversion.cc).
Result<Done> convert_stochastic(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> convert_packed(Lowering& lowering, const ptx::Instruction& instruction);

}  // namespace weft::emulator
