// SPDX-License-Identifier: Apache-2.0

// tensormap.replace and tensormap.cp_fenceproxy (PTX ISA 9.0, sections 9.7.9.28 and 9.7.13.15.18):
// kernels that change the descriptor of a tensor copy. A map may also be built from zeroed memory,
// field by field.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/ops/async_copy.h"
#include "ptxbench/emulator/tensor_map.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Space;
using isa::Type;

enum class Field : uint8_t {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  Elemtype,
  InterleaveLayout,
  SwizzleMode,
  SwizzleAtomicity,
  FillMode,
};
constexpr std::string_view kFieldNames[] = {
    "global_address", "rank",     "box_dim",           "global_dim",   "global_stride",
    "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity",
    "fill_mode",
};
constexpr bool has_ordinal(Field field) {
  return field >= Field::BoxDim && field <= Field::ElementStride;
}
constexpr bool is_wide(Field field) {
  return field == Field::GlobalAddress || field == Field::GlobalStride;
}

// The manual numbers element types differently from CUtensorMapDataType (table of .elemtype).
constexpr TensorElement kElements[] = {
    TensorElement::U8,           TensorElement::U16,         TensorElement::U32,
    TensorElement::S32,          TensorElement::U64,         TensorElement::S64,
    TensorElement::F16,          TensorElement::F32,         TensorElement::F32Ftz,
    TensorElement::F64,          TensorElement::Bf16,        TensorElement::Tf32,
    TensorElement::Tf32Ftz,      TensorElement::U4x16Align8, TensorElement::U4x16Align16,
    TensorElement::U6x16Align16,
};

struct ReplaceForm : Extra {
  Address map;
  Field field = Field::GlobalAddress;
  Slot ordinal = kNoSlot, value = kNoSlot;
};

bool replace_swizzle(TensorMap& map, uint64_t value) {
  if (value > 3) return false;
  map.swizzle = static_cast<TensorSwizzle>(value);
  return true;
}

// Atomicities other than 16 bytes are modes of their own here, all of width 128.
bool replace_atomicity(TensorMap& map, uint64_t value) {
  constexpr TensorSwizzle kAtoms[] = {TensorSwizzle::Bytes128, TensorSwizzle::Bytes128Atom32,
                                      TensorSwizzle::Bytes128Atom32Flip8,
                                      TensorSwizzle::Bytes128Atom64};
  if (value > 3) return false;
  if (value == 0 && map.swizzle < TensorSwizzle::Bytes128) return true;
  map.swizzle = kAtoms[value];
  return true;
}

// False when the value or the ordinal is outside what the field takes.
bool replace(TensorMap& map, Field field, uint64_t ordinal, uint64_t value) {
  if (has_ordinal(field) && ordinal >= (field == Field::GlobalStride ? 4u : 5u)) return false;
  switch (field) {
    case Field::GlobalAddress:
      map.global_address = value;
      return true;
    // Counted from 0.
    case Field::Rank:
      map.rank = static_cast<uint8_t>(value + 1);
      return value <= 4;
    case Field::BoxDim:
      map.box[ordinal] = static_cast<uint16_t>(value);
      return value >= 1 && value <= 256;
    // An extent of 2^32 is written as 0.
    case Field::GlobalDim:
      map.last_index[ordinal] = static_cast<uint32_t>(value - 1);
      return true;
    case Field::GlobalStride:
      map.strides[ordinal] = value;
      return true;
    case Field::ElementStride:
      map.element_strides[ordinal] = static_cast<uint8_t>(value);
      return value >= 1 && value <= 8;
    case Field::Elemtype:
      if (value >= std::size(kElements)) return false;
      map.element = kElements[value];
      return true;
    case Field::InterleaveLayout:
      map.interleave = static_cast<TensorInterleave>(value);
      return value <= 2;
    case Field::SwizzleMode:
      return replace_swizzle(map, value);
    case Field::SwizzleAtomicity:
      return replace_atomicity(map, value);
    case Field::FillMode:
      map.fill = static_cast<TensorFill>(value);
      return value <= 1;
  }
  return false;
}

Outcome run_replace(Warp& warp, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const ReplaceForm*>(op.extra);
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const uint64_t address = address_of(warp, form.map, lane);
    std::byte* bytes =
        access(warp, op, lane, form.map.space, address, sizeof(TensorMap), 16, AccessKind::Write);
    if (bytes == nullptr) return Outcome::Fault;
    TensorMap map;
    std::memcpy(static_cast<void*>(&map), bytes, sizeof map);
    const bool blank =
        std::all_of(bytes, bytes + sizeof map, [](std::byte b) { return b == std::byte{0}; });
    if (!blank && (map.magic != kTensorMapMagic || map.check != tensor_map_check(map)))
      return warp.fault(op, lane, FaultKind::InvalidDescriptor,
                        fmt::format("no tensor map at the address: {:#x}", address), address);
    const uint64_t ordinal = form.ordinal == kNoSlot ? 0 : warp.read<uint32_t>(form.ordinal)[lane];
    const uint64_t value = is_wide(form.field) ? warp.read<uint64_t>(form.value)[lane]
                                               : warp.read<uint32_t>(form.value)[lane];
    if (!replace(map, form.field, ordinal, value))
      return warp.fault(op, lane, FaultKind::InvalidDescriptor,
                        fmt::format("tensormap.replace gives {}[{}] a value it cannot have: {}",
                                    kFieldNames[static_cast<size_t>(form.field)], ordinal, value),
                        address);
    seal(map);
    std::memcpy(bytes, &map, sizeof map);
  }
  return Outcome::Next;
}

struct CopyForm : Extra {
  Address destination, source;
};

// All lanes name the same map; copying it once for each changes nothing.
Outcome run_copy_fenced(Warp& warp, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const CopyForm*>(op.extra);
  const int lane = first_lane(exec);
  const std::byte* from = access(warp, op, lane, Space::Shared, address_of(warp, form.source, lane),
                                 sizeof(TensorMap), 16, AccessKind::Read);
  if (from == nullptr) return Outcome::Fault;
  std::byte* to = access(warp, op, lane, Space::Global, address_of(warp, form.destination, lane),
                         sizeof(TensorMap), 16, AccessKind::Write);
  if (to == nullptr) return Outcome::Fault;
  std::memcpy(to, from, sizeof(TensorMap));
  return Outcome::Next;
}

Result<Done> lower_replace(Lowering& l, const ptx::Instruction& i) {
  auto form = std::make_unique<ReplaceForm>();
  size_t field = 0;
  while (field < std::size(kFieldNames) && !i.has(kFieldNames[field])) ++field;
  if (field == std::size(kFieldNames)) return l.unsupported("this field of tensormap.replace");
  form->field = static_cast<Field>(field);
  form->map = TRY(l.address(i.operands[0], i.space));
  size_t next = 1;
  if (has_ordinal(form->field)) form->ordinal = TRY(l.source(i.operands[next++], Type::U32));
  form->value = TRY(l.source(i.operands[next], is_wide(form->field) ? Type::B64 : Type::B32));
  const ReplaceForm* kept = l.keep(std::move(form));
  l.emit(run_replace).extra = kept;
  return Done{};
}

Result<Done> lower_tensormap(Lowering& l, const ptx::Instruction& i) {
  if (i.has("replace")) return lower_replace(l, i);
  if (!i.has("cp_fenceproxy")) return l.unsupported("this form of tensormap");
  auto form = std::make_unique<CopyForm>();
  form->destination = TRY(l.address(i.operands[0], Space::Global));
  form->source = TRY(l.address(i.operands[1], Space::Shared));
  const CopyForm* kept = l.keep(std::move(form));
  l.emit(run_copy_fenced).extra = kept;
  return Done{};
}

constexpr Meaning kMeanings[] = {{"tensormap", lower_tensormap}};

}  // namespace

std::span<const Meaning> tensor_copy_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
