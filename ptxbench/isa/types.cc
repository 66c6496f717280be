// SPDX-License-Identifier: Apache-2.0

// One table says what every type word means; the functions of types.h read it.
#include "ptxbench/isa/types.h"

#include <array>
#include <cstddef>

namespace weft::isa {
namespace {

enum class Kind : uint8_t { Opaque, Predicate, Untyped, Unsigned, Signed, Float };

struct Facts {
  Type type;
  std::string_view name;
  Kind kind;
  int bits;
};

// In the order of the enumeration. Formats narrower than a byte take a byte in registers and
// memory where they stand alone; `bits` is the format's own width.
constexpr std::array kFacts = {
    Facts{Type::None, "", Kind::Opaque, 0},
    Facts{Type::Pred, "pred", Kind::Predicate, 1},
    Facts{Type::B1, "b1", Kind::Untyped, 1},
    Facts{Type::B4, "b4", Kind::Untyped, 4},
    Facts{Type::B8, "b8", Kind::Untyped, 8},
    Facts{Type::B16, "b16", Kind::Untyped, 16},
    Facts{Type::B32, "b32", Kind::Untyped, 32},
    Facts{Type::B64, "b64", Kind::Untyped, 64},
    Facts{Type::B128, "b128", Kind::Untyped, 128},
    Facts{Type::U4, "u4", Kind::Unsigned, 4},
    Facts{Type::U8, "u8", Kind::Unsigned, 8},
    Facts{Type::U16, "u16", Kind::Unsigned, 16},
    Facts{Type::U32, "u32", Kind::Unsigned, 32},
    Facts{Type::U64, "u64", Kind::Unsigned, 64},
    Facts{Type::S4, "s4", Kind::Signed, 4},
    Facts{Type::S8, "s8", Kind::Signed, 8},
    Facts{Type::S16, "s16", Kind::Signed, 16},
    Facts{Type::S32, "s32", Kind::Signed, 32},
    Facts{Type::S64, "s64", Kind::Signed, 64},
    Facts{Type::F16, "f16", Kind::Float, 16},
    Facts{Type::F16x2, "f16x2", Kind::Float, 32},
    Facts{Type::Bf16, "bf16", Kind::Float, 16},
    Facts{Type::Bf16x2, "bf16x2", Kind::Float, 32},
    Facts{Type::Tf32, "tf32", Kind::Float, 32},
    Facts{Type::F32, "f32", Kind::Float, 32},
    Facts{Type::F32x2, "f32x2", Kind::Float, 64},
    Facts{Type::F64, "f64", Kind::Float, 64},
    Facts{Type::U16x2, "u16x2", Kind::Unsigned, 32},
    Facts{Type::S16x2, "s16x2", Kind::Signed, 32},
    Facts{Type::U8x4, "u8x4", Kind::Unsigned, 32},
    Facts{Type::S8x4, "s8x4", Kind::Signed, 32},
    Facts{Type::B6x16P32, "b6x16_p32", Kind::Untyped, 128},
    Facts{Type::B4x16P64, "b4x16_p64", Kind::Untyped, 128},
    Facts{Type::B8x16, "b8x16", Kind::Untyped, 128},
    Facts{Type::E4m3, "e4m3", Kind::Float, 8},
    Facts{Type::E5m2, "e5m2", Kind::Float, 8},
    Facts{Type::E4m3x2, "e4m3x2", Kind::Float, 16},
    Facts{Type::E5m2x2, "e5m2x2", Kind::Float, 16},
    Facts{Type::E4m3x4, "e4m3x4", Kind::Float, 32},
    Facts{Type::E5m2x4, "e5m2x4", Kind::Float, 32},
    Facts{Type::E2m1, "e2m1", Kind::Float, 4},
    Facts{Type::E2m1x2, "e2m1x2", Kind::Float, 8},
    Facts{Type::E2m1x4, "e2m1x4", Kind::Float, 16},
    Facts{Type::E2m3, "e2m3", Kind::Float, 6},
    Facts{Type::E2m3x2, "e2m3x2", Kind::Float, 16},
    Facts{Type::E2m3x4, "e2m3x4", Kind::Float, 32},
    Facts{Type::E3m2, "e3m2", Kind::Float, 6},
    Facts{Type::E3m2x2, "e3m2x2", Kind::Float, 16},
    Facts{Type::E3m2x4, "e3m2x4", Kind::Float, 32},
    Facts{Type::Ue8m0, "ue8m0", Kind::Float, 8},
    Facts{Type::Ue8m0x2, "ue8m0x2", Kind::Float, 16},
    Facts{Type::Ue4m3, "ue4m3", Kind::Float, 8},
    Facts{Type::S2f6x2, "s2f6x2", Kind::Float, 16},
    Facts{Type::Texref, "texref", Kind::Opaque, 0},
    Facts{Type::Samplerref, "samplerref", Kind::Opaque, 0},
    Facts{Type::Surfref, "surfref", Kind::Opaque, 0},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kFacts.size(); ++i) {
    if (static_cast<std::size_t>(kFacts[i].type) != i) return false;
  }
  return true;
}
static_assert(in_order() && kFacts.size() == static_cast<std::size_t>(Type::Surfref) + 1);

const Facts& facts(Type type) {
  return kFacts[static_cast<std::size_t>(type)];
}

}  // namespace

std::optional<Type> parse_type(std::string_view word) {
  if (word.size() < 2 || word.size() > 10) return std::nullopt;
  for (const Facts& row : kFacts) {
    if (row.name == word) return row.type;
  }
  return std::nullopt;
}

std::string_view name(Type type) {
  return facts(type).name;
}
int bits(Type type) {
  return facts(type).bits;
}
bool is_signed(Type type) {
  return facts(type).kind == Kind::Signed;
}
bool is_float(Type type) {
  return facts(type).kind == Kind::Float;
}
bool is_untyped(Type type) {
  return facts(type).kind == Kind::Untyped;
}

}  // namespace weft::isa
