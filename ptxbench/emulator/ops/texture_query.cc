// SPDX-License-Identifier: Apache-2.0

// Questions about textures and surfaces (PTX ISA 9.0, sections 9.7.10.5, 9.7.10.6 and 9.7.11.5):
// txq, suq and istypep. Formats and filters are numbered as section 5.3 says, after OpenCL.

#include <fmt/format.h>

#include <memory>

#include "ptxbench/emulator/ops/texture_handle.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using Query = uint32_t (*)(const TextureObject&, uint32_t level);

const TextureObject::Level& level_at(const TextureObject& t, uint32_t level) {
  return t.levels[level < t.level_count ? level : t.level_count - 1];
}

uint32_t channel_data_type(const TextureObject& t, uint32_t) {
  using enum TextureObject::Channel;
  if (t.channel == Float) return t.channel_bits == 16 ? 0x10dd : 0x10de;
  const uint32_t width = t.channel_bits == 8 ? 0 : t.channel_bits == 16 ? 1 : 2;
  if (t.normalized_read) return (t.channel == Signed ? 0x10d0 : 0x10d2) + width;
  return (t.channel == Signed ? 0x10d7 : 0x10da) + width;
}
uint32_t channel_order(const TextureObject& t, uint32_t) {
  return t.channels == 1 ? 0x10b0 : t.channels == 2 ? 0x10b2 : 0x10b5;  // R, RG, RGBA
}
uint32_t array_size(const TextureObject& t, uint32_t) {
  if (!t.layered) return 0;
  const bool cube = t.shape == TextureObject::Shape::Cube;
  return t.levels[0].depth / (cube ? TextureObject::kFaces : 1);
}
uint32_t depth(const TextureObject& t, uint32_t level) {
  return t.layered || t.shape == TextureObject::Shape::Cube ? 1 : level_at(t, level).depth;
}
// wrap 0, mirror 1, clamp to the edge 2, clamp to the border 3 (section 5.3.2).
template <int kDimension>
uint32_t address_mode(const TextureObject& t, uint32_t) {
  switch (t.address[kDimension]) {
    case TextureObject::Address::Wrap:
      return 0;
    case TextureObject::Address::Mirror:
      return 1;
    case TextureObject::Address::Clamp:
      return 2;
    default:
      return 3;
  }
}

struct Named {
  std::string_view word;
  Query query;
};
constexpr Named kQueries[] = {
    {"width", [](const TextureObject& t, uint32_t l) { return level_at(t, l).width; }},
    {"height", [](const TextureObject& t, uint32_t l) { return level_at(t, l).height; }},
    {"depth", depth},
    {"channel_data_type", channel_data_type},
    {"channel_order", channel_order},
    {"normalized_coords",
     [](const TextureObject& t, uint32_t) -> uint32_t { return t.normalized_coordinates; }},
    {"force_unnormalized_coords",
     [](const TextureObject& t, uint32_t) -> uint32_t { return !t.normalized_coordinates; }},
    {"array_size", array_size},
    {"num_mipmap_levels", [](const TextureObject& t, uint32_t) { return t.level_count; }},
    {"num_samples", [](const TextureObject&, uint32_t) -> uint32_t { return 1; }},
    {"filter_mode",
     [](const TextureObject& t, uint32_t) -> uint32_t { return t.linear_filter ? 1 : 0; }},
    {"addr_mode_0", address_mode<0>},
    {"addr_mode_1", address_mode<1>},
    {"addr_mode_2", address_mode<2>},
    {"memory_layout", [](const TextureObject&, uint32_t) -> uint32_t { return 0; }},
};

struct QueryForm final : Extra {
  Slot handle = kNoSlot, level = kNoSlot;
  Query query = nullptr;
  TextureUse use = TextureUse::Texture;
};

Outcome run_query(Warp& w, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const QueryForm*>(op.extra);
  return for_textures(w, op, exec, w.read<uint64_t>(form.handle), form.use,
                      [&](int lane, const TextureObject& texture) {
                        const uint32_t level =
                            form.level == kNoSlot ? 0 : w.read<uint32_t>(form.level)[lane];
                        w.write<uint32_t>(op.d)[lane] = form.query(texture, level);
                        return true;
                      });
}

Outcome run_type_query(Warp& w, const Op& op, LaneMask exec) {
  const uint64_t* handles = w.read<uint64_t>(op.a);
  LaneMask holds = 0;
  for_lanes(exec, [&](int lane) {
    if (is_texture(w, handles[lane], static_cast<TextureUse>(op.small))) holds |= 1u << lane;
  });
  merge_predicate(exec, w.predicate(op.d), holds);
  return Outcome::Next;
}

Outcome no_sampler(Warp& w, const Op& op, LaneMask exec) {
  merge_predicate(exec, w.predicate(op.d), 0);
  return Outcome::Next;
}

}  // namespace

Result<Done> lower_texture_query(Lowering& l, const ptx::Instruction& i) {
  auto form = std::make_unique<QueryForm>();
  for (const Named& named : kQueries)
    if (i.has(named.word)) form->query = named.query;
  if (form->query == nullptr)
    return l.unsupported(fmt::format("{}: an unknown question", i.spelling()));
  form->use = i.opcode == "suq" ? TextureUse::Surface : TextureUse::Texture;
  form->handle = TRY(texture_handle(l, i.operands[1]));
  if (i.operands.size() > 2) form->level = TRY(l.source(i.operands[2], isa::Type::B32));
  const Slot to = TRY(l.destination(i.operands[0], isa::Type::B32));
  const QueryForm* kept = l.keep(std::move(form));
  Op& op = l.emit(run_query);
  op.d = to;
  op.extra = kept;
  return Done{};
}

// Texture objects carry their samplers, so nothing is a sampler reference.
Result<Done> lower_type_query(Lowering& l, const ptx::Instruction& i) {
  const Slot to = TRY(l.predicate_destination(i.operands[0]));
  const Slot handle = TRY(texture_handle(l, i.operands[1]));
  Op& op = l.emit(i.has("samplerref") ? no_sampler : run_type_query);
  op.d = to;
  op.a = handle;
  op.small = static_cast<uint32_t>(i.has("surfref") ? TextureUse::Surface : TextureUse::Texture);
  return Done{};
}

}  // namespace weft::emulator
