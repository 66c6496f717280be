// SPDX-License-Identifier: Apache-2.0

// The fundamental and alternate types of PTX (PTX ISA 9.0, sections 5.2 and 9.7), as they stand in
// instruction suffixes and declarations.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::isa {

enum class Type : uint8_t {
  None,
  Pred,
  B1,
  B4,
  B8,
  B16,
  B32,
  B64,
  B128,
  U4,
  U8,
  U16,
  U32,
  U64,
  S4,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  Bf16,
  Bf16x2,
  Tf32,
  F32,
  F32x2,
  F64,
  U16x2,
  S16x2,
  U8x4,
  S8x4,
  B6x16P32,
  B4x16P64,
  B8x16,
  E4m3,
  E5m2,
  E4m3x2,
  E5m2x2,
  E4m3x4,
  E5m2x4,
  E2m1,
  E2m1x2,
  E2m1x4,
  E2m3,
  E2m3x2,
  E2m3x4,
  E3m2,
  E3m2x2,
  E3m2x4,
  Ue8m0,
  Ue8m0x2,
  Ue4m3,
  S2f6x2,
  Texref,
  Samplerref,
  Surfref,
};

// "u32" -> Type::U32; nothing when the word is no type. No leading dot.
std::optional<Type> parse_type(std::string_view word);
std::string_view name(Type type);

// Bits that one value takes; 1 for predicates, 0 for None and the opaque references.
int bits(Type type);
bool is_signed(Type type);   // s4 s8 s16 s32 s64 and the packed s forms
bool is_float(Type type);    // every floating-point type, packed ones included
bool is_untyped(Type type);  // b1 ... b128

}  // namespace weft::isa
