// SPDX-License-Identifier: Apache-2.0

// Texture instructions (PTX ISA 9.0, section 9.7.10): tex and tld4. The rest of the chapter is in
// surface.cc and texture_query.cc.

#include <fmt/format.h>

#include <bit>
#include <memory>

#include "base/floats.h"
#include "ptxbench/emulator/ops/texture_handle.h"
#include "ptxbench/emulator/texture_sampler.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Type;

struct TextureForm final : Extra {
  Slot handle = kNoSlot;
  int dimensions = 2;
  bool cube = false;
  bool integers = false;  // coordinates
  Slot layer = kNoSlot;   // of arrays
  Slot at[3] = {kNoSlot, kNoSlot, kNoSlot};
  Slot offset[3] = {kNoSlot, kNoSlot, kNoSlot};
  Slot lod = kNoSlot;                                                             // .level
  Slot dx[3] = {kNoSlot, kNoSlot, kNoSlot}, dy[3] = {kNoSlot, kNoSlot, kNoSlot};  // .grad
  int channel = -1;                                                               // tld4
  Type result = Type::F32;
  Slot to[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  Slot resident = kNoSlot;  // predicate
};

// f16 results round the float that the 32-bit forms give; channels that hold integers keep their
// low bits.
uint16_t half_of(const TextureObject& texture, uint32_t bits) {
  return reads_floats(texture) ? float_to_f16(std::bit_cast<float>(bits))
                               : static_cast<uint16_t>(bits);
}

void write_texel(Warp& w, const TextureForm& form, const TextureObject& texture, int lane,
                 const Texel& texel) {
  switch (form.result) {
    case Type::F16:
      for (size_t c = 0; c < 4; ++c)
        w.write<uint16_t>(form.to[c])[lane] = half_of(texture, texel[c]);
      return;
    case Type::F16x2:
      for (size_t c = 0; c < 2; ++c)
        w.write<uint32_t>(form.to[c])[lane] =
            half_of(texture, texel[2 * c]) |
            static_cast<uint32_t>(half_of(texture, texel[2 * c + 1])) << 16;
      return;
    default:
      for (size_t c = 0; c < 4; ++c) w.write<uint32_t>(form.to[c])[lane] = texel[c];
  }
}

TexturePlace place_of(const Warp& w, const TextureForm& form, int lane) {
  TexturePlace place{.dimensions = form.dimensions, .cube = form.cube};
  for (int d = 0; d < form.dimensions; ++d) {
    if (!form.integers) place.at[d] = w.read<float>(form.at[d])[lane];
    if (form.offset[d] != kNoSlot) place.offset[d] = w.read<int32_t>(form.offset[d])[lane];
  }
  if (form.layer != kNoSlot) place.layer = w.read<uint32_t>(form.layer)[lane];
  return place;
}

Texel look_up(const Warp& w, const TextureForm& form, const TextureObject& texture, int lane) {
  const TexturePlace place = place_of(w, form, lane);
  if (form.channel >= 0) return gather(texture, place, form.channel);
  if (form.integers) {
    int32_t at[3] = {};
    for (int d = 0; d < form.dimensions; ++d) at[d] = w.read<int32_t>(form.at[d])[lane];
    return fetch(texture, place, at, form.lod == kNoSlot ? 0 : w.read<int32_t>(form.lod)[lane]);
  }
  float lod = 0;
  if (form.lod != kNoSlot) lod = w.read<float>(form.lod)[lane];
  if (form.dx[0] != kNoSlot) {
    float dx[3] = {}, dy[3] = {};
    for (int d = 0; d < form.dimensions; ++d) {
      dx[d] = w.read<float>(form.dx[d])[lane];
      dy[d] = w.read<float>(form.dy[d])[lane];
    }
    lod = level_of_gradients(texture, form.dimensions, dx, dy);
  }
  return sample(texture, place, lod);
}

Outcome run_texture(Warp& w, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const TextureForm*>(op.extra);
  const Outcome outcome =
      for_textures(w, op, exec, w.read<uint64_t>(form.handle), TextureUse::Texture,
                   [&](int lane, const TextureObject& texture) {
                     write_texel(w, form, texture, lane, look_up(w, form, texture, lane));
                     return true;
                   });
  if (outcome == Outcome::Next && form.resident != kNoSlot)
    merge_predicate(exec, w.predicate(form.resident), kAllLanes);
  return outcome;
}

// --- Lowering -----------------------------------------------------------------------------------

struct Geometry {
  std::string_view word;
  int dimensions;
  bool array, cube;
};
constexpr Geometry kGeometries[] = {
    {"1d", 1, false, false},  {"2d", 2, false, false}, {"3d", 3, false, false},
    {"a1d", 1, true, false},  {"a2d", 2, true, false}, {"cube", 3, false, true},
    {"acube", 3, true, true},
};

const Geometry* geometry_of(const ptx::Instruction& i) {
  for (const Geometry& geometry : kGeometries)
    if (i.has(geometry.word)) return &geometry;
  return nullptr;
}

// The elements of a vector operand as 32-bit sources; there may be one more, which is ignored.
Result<Done> sources(Lowering& l, const ptx::Operand& operand, int count, Type type, Slot* slots) {
  const auto elements = l.elements(operand);
  if (elements.size() < static_cast<size_t>(count))
    return l.error(
        fmt::format("{} elements where the texture's geometry needs {}", elements.size(), count));
  for (int k = 0; k < count; ++k) slots[k] = TRY(l.source(*elements[static_cast<size_t>(k)], type));
  return Done{};
}

Result<Done> lower_coordinates(Lowering& l, const ptx::Operand& operand, const Geometry& geometry,
                               TextureForm& form) {
  const auto* address = std::get_if<ptx::AddressOperand>(&operand.value);
  if (address == nullptr || address->parts.size() < 2)
    return l.error("texture instructions take an operand of the form [texture, {coordinates}]");
  const auto elements = l.elements(address->parts[1]);
  const size_t first = geometry.array ? 1 : 0;
  if (elements.size() < first + static_cast<size_t>(geometry.dimensions))
    return l.error(fmt::format("{} coordinates where .{} needs {}", elements.size(), geometry.word,
                               first + static_cast<size_t>(geometry.dimensions)));
  if (geometry.array) form.layer = TRY(l.source(*elements[0], Type::B32));
  for (int d = 0; d < geometry.dimensions; ++d)
    form.at[d] = TRY(
        l.source(*elements[first + static_cast<size_t>(d)], form.integers ? Type::S32 : Type::F32));
  return Done{};
}

Result<Done> lower_results(Lowering& l, const ptx::Operand& operand, TextureForm& form) {
  const ptx::Operand* vector = &operand;
  if (const auto* pair = std::get_if<ptx::PairOperand>(&operand.value)) {
    vector = &pair->elements[0];
    form.resident = TRY(l.predicate_destination(pair->elements[1]));
  }
  const auto elements = l.elements(*vector);
  const size_t wanted = form.result == Type::F16x2 ? 2 : 4;
  if (elements.size() != wanted)
    return l.error(fmt::format("{} results where there are {}", elements.size(), wanted));
  for (size_t c = 0; c < wanted; ++c) form.to[c] = TRY(l.destination(*elements[c], form.result));
  return Done{};
}

// tex, tld4: d{|p}, [a, c]{, lod}{, dx, dy}{, e}{, f}.
Result<Done> lower_texture(Lowering& l, const ptx::Instruction& i) {
  const Geometry* geometry = geometry_of(i);
  if (geometry == nullptr)
    return l.unsupported(
        fmt::format("{}: CUDA has no multisampled textures of its own", i.spelling()));
  if (i.types.size() < 2) return l.error("a texture instruction names two types");
  auto form = std::make_unique<TextureForm>();
  form->dimensions = geometry->dimensions;
  form->cube = geometry->cube;
  form->result = i.types[i.types.size() - 2];
  form->integers = i.types.back() == Type::S32;
  if (i.opcode == "tld4") form->channel = i.has("r") ? 0 : i.has("g") ? 1 : i.has("b") ? 2 : 3;
  TRY(lower_results(l, i.operands[0], *form));
  form->handle = TRY(texture_handle(l, i.operands[1]));
  TRY(lower_coordinates(l, i.operands[1], *geometry, *form));
  size_t next = 2;
  if (i.has("level")) {
    if (next == i.operands.size()) return l.error("tex.level takes a level");
    form->lod = TRY(l.source(i.operands[next++], form->integers ? Type::S32 : Type::F32));
  }
  if (i.has("grad")) {
    TRY(sources(l, i.operands[next++], geometry->dimensions, Type::F32, form->dx));
    TRY(sources(l, i.operands[next++], geometry->dimensions, Type::F32, form->dy));
  }
  // What is left is the offset, and then the value that depth textures compare with.
  const size_t left = i.operands.size() - next;
  const bool offsets =
      left > 0 && std::holds_alternative<ptx::VectorOperand>(i.operands[next].value);
  if (left > (offsets ? 1u : 0u)) return l.unsupported("comparisons with depth textures");
  if (offsets) {
    if (geometry->cube) return l.error("cube textures take no offset");
    TRY(sources(l, i.operands[next], geometry->dimensions, Type::S32, form->offset));
  }
  const TextureForm* kept = l.keep(std::move(form));
  l.emit(run_texture).extra = kept;
  return Done{};
}

constexpr Meaning kMeanings[] = {
    {"tex", lower_texture},       {"tld4", lower_texture},
    {"txq", lower_texture_query}, {"istypep", lower_type_query},
    {"suld", lower_surface_load}, {"sust", lower_surface_store},
    {"suq", lower_texture_query}, {"sured", lower_surface_reduction},
};

}  // namespace

std::span<const Meaning> texture_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
