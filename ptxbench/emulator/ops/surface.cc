// SPDX-License-Identifier: Apache-2.0

// Surface instructions (PTX ISA 9.0, section 9.7.11): suld, sust and sured. The unformatted forms
// (.b) count x in bytes and move bits; the formatted ones (.p) count x in samples and convert.
// Outside the surface .trap ends the grid, .clamp takes the nearest place, and .zero reads zeros
// and drops stores.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "base/floats.h"
#include "ptxbench/emulator/bulk_reduction.h"
#include "ptxbench/emulator/ops/texture_handle.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Type;
using Channel = TextureObject::Channel;

enum class Outside : uint8_t { Trap, Clamp, Zero };

struct SurfaceForm final : Extra {
  Slot handle = kNoSlot;
  int dimensions = 2;
  Slot layer = kNoSlot;
  Slot at[3] = {kNoSlot, kNoSlot, kNoSlot};
  Outside outside = Outside::Trap;
  bool formatted = false;
  uint32_t element_bytes = 4;  // in memory
  uint32_t elements = 1;
  Slot values[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  uint32_t register_bytes = 4;  // of a value
  Combine combine = nullptr;    // sured.b
  std::string_view reduction;   // sured
};

// --- Places -------------------------------------------------------------------------------------

// Where a lane's bytes lie. `skip`: outside, and nothing is to be done.
struct Spot {
  std::byte* bytes = nullptr;
  bool skip = false;
};

std::optional<Spot> find_spot(Warp& w, const Op& op, int lane, const SurfaceForm& form,
                              const TextureObject& surface) {
  const TextureObject::Level& level = surface.levels[0];
  const uint32_t texel = surface.texel_bytes();
  const int64_t unit = form.formatted ? texel : 1;
  const int64_t size = form.formatted ? texel : int64_t{form.element_bytes} * form.elements;
  int64_t at[3] = {0, 0, 0};
  for (int d = 0; d < form.dimensions; ++d) at[d] = w.read<int32_t>(form.at[d])[lane];
  if (form.layer != kNoSlot) at[2] = w.read<uint32_t>(form.layer)[lane];
  at[0] *= unit;
  if (at[0] % size != 0) {
    w.fault(op, lane, FaultKind::Misaligned,
            fmt::format("surface access of {} bytes at byte {} of a row, which is no multiple of "
                        "its size",
                        size, at[0]),
            0, {"unformatted surface instructions count x in bytes"});
    return std::nullopt;
  }
  const int64_t last[3] = {int64_t{level.width} * texel - size, int64_t{level.height} - 1,
                           int64_t{level.depth} - 1};
  bool outside = false;
  for (int d = 0; d < 3; ++d) outside |= at[d] < 0 || at[d] > last[d];
  if (outside) {
    if (form.outside == Outside::Zero) return Spot{.skip = true};
    if (form.outside == Outside::Trap) {
      w.fault(op, lane, FaultKind::OutOfBounds,
              fmt::format("surface access of {} bytes at byte {}, row {}, slice {} of a surface of "
                          "{} bytes x {} x {}",
                          size, at[0], at[1], at[2], last[0] + size, level.height, level.depth));
      return std::nullopt;
    }
    for (int d = 0; d < 3; ++d)
      at[d] = std::clamp<int64_t>(at[d], 0, std::max<int64_t>(last[d], 0));
    if (last[0] < 0) return Spot{.skip = true};
  }
  return Spot{reinterpret_cast<std::byte*>(level.data) +
              static_cast<uint64_t>(at[2]) * level.slice +
              static_cast<uint64_t>(at[1]) * level.pitch + static_cast<uint64_t>(at[0])};
}

std::byte* register_at(Warp& w, const SurfaceForm& form, uint32_t k, int lane) {
  return w.write<std::byte>(form.values[k]) + static_cast<uint32_t>(lane) * form.register_bytes;
}
const std::byte* source_at(const Warp& w, const SurfaceForm& form, uint32_t k, int lane) {
  return w.read<std::byte>(form.values[k]) + static_cast<uint32_t>(lane) * form.register_bytes;
}

// Runs `act(lane, surface, bytes)` where a lane's place is inside, `miss(lane)` where it is not.
template <typename Act, typename Miss>
Outcome for_spots(Warp& w, const Op& op, LaneMask exec, Act act, Miss miss) {
  const auto& form = *static_cast<const SurfaceForm*>(op.extra);
  return for_textures(w, op, exec, w.read<uint64_t>(form.handle), TextureUse::Surface,
                      [&](int lane, const TextureObject& surface) {
                        const auto spot = find_spot(w, op, lane, form, surface);
                        if (!spot) return false;
                        if (spot->skip)
                          miss(lane);
                        else
                          act(lane, surface, spot->bytes);
                        return true;
                      });
}

// --- suld.b, sust.b -----------------------------------------------------------------------------

Outcome load_bits(Warp& w, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const SurfaceForm*>(op.extra);
  const auto put = [&](int lane, const std::byte* from) {
    for (uint32_t k = 0; k < form.elements; ++k) {
      std::byte* to = register_at(w, form, k, lane);
      std::memset(to, 0, form.register_bytes);
      if (from != nullptr) std::memcpy(to, from + k * form.element_bytes, form.element_bytes);
    }
  };
  return for_spots(
      w, op, exec, [&](int lane, const TextureObject&, std::byte* from) { put(lane, from); },
      [&](int lane) { put(lane, nullptr); });
}

Outcome store_bits(Warp& w, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const SurfaceForm*>(op.extra);
  return for_spots(
      w, op, exec,
      [&](int lane, const TextureObject&, std::byte* to) {
        for (uint32_t k = 0; k < form.elements; ++k)
          std::memcpy(to + k * form.element_bytes, source_at(w, form, k, lane), form.element_bytes);
      },
      [](int) {});
}

// --- sust.p -------------------------------------------------------------------------------------

// A 32-bit value as a channel of the surface holds it: integers are clamped, floats cut short, as
// an H200 does.
uint32_t to_channel(const TextureObject& surface, uint32_t bits) {
  const int width = surface.channel_bits;
  if (width == 32) return bits;
  if (surface.channel == Channel::Float) {
    const float value = std::bit_cast<float>(bits);
    uint16_t half = float_to_f16(value);
    if (std::fabs(f16_to_float(half)) > std::fabs(value)) --half;
    return half;
  }
  if (surface.channel == Channel::Unsigned) return std::min(bits, (1u << width) - 1);
  const int32_t largest = (1 << (width - 1)) - 1;
  return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(bits), -largest - 1, largest));
}

// Channels that the source vector lacks are written as zero; the manual leaves them open.
Outcome store_samples(Warp& w, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const SurfaceForm*>(op.extra);
  return for_spots(
      w, op, exec,
      [&](int lane, const TextureObject& surface, std::byte* to) {
        const uint32_t width = surface.channel_bits / 8u;
        for (uint32_t c = 0; c < surface.channels; ++c) {
          uint32_t bits = 0;
          if (c < form.elements) std::memcpy(&bits, source_at(w, form, c, lane), sizeof bits);
          bits = to_channel(surface, bits);
          std::memcpy(to + c * width, &bits, width);
        }
      },
      [](int) {});
}

// --- sured --------------------------------------------------------------------------------------

Outcome reduce_bits(Warp& w, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const SurfaceForm*>(op.extra);
  return for_spots(
      w, op, exec,
      [&](int lane, const TextureObject&, std::byte* to) {
        form.combine(to, source_at(w, form, 0, lane), form.element_bytes);
      },
      [](int) {});
}

// The surface's format says whether its integers have a sign.
Outcome reduce_samples(Warp& w, const Op& op, LaneMask exec) {
  const auto& form = *static_cast<const SurfaceForm*>(op.extra);
  bool fits = true;
  const Outcome outcome = for_spots(
      w, op, exec,
      [&](int lane, const TextureObject& surface, std::byte* to) {
        const bool is_bitwise = form.reduction == "and" || form.reduction == "or";
        const bool wide = form.element_bytes == 8, is_signed = surface.channel == Channel::Signed;
        const Type type = is_bitwise  ? (wide ? Type::B64 : Type::B32)
                          : is_signed ? (wide ? Type::S64 : Type::S32)
                                      : (wide ? Type::U64 : Type::U32);
        const Combine combine = find_reduction(form.reduction, type);
        if (surface.channel == Channel::Float || surface.texel_bytes() != form.element_bytes ||
            combine == nullptr)
          fits = false;
        else
          combine(to, source_at(w, form, 0, lane), form.element_bytes);
      },
      [](int) {});
  if (outcome == Outcome::Next && !fits)
    return w.fault(op, first_lane(exec), FaultKind::InvalidDescriptor,
                   "a formatted surface reduction takes integers as wide as the surface's samples");
  return outcome;
}

// --- Lowering -----------------------------------------------------------------------------------

Result<Done> lower_place(Lowering& l, const ptx::Instruction& i, const ptx::Operand& operand,
                         SurfaceForm& form) {
  const bool array = i.has("a1d") || i.has("a2d");
  form.dimensions = i.has("1d") || i.has("a1d") ? 1 : i.has("3d") ? 3 : 2;
  form.outside = i.has("trap") ? Outside::Trap : i.has("clamp") ? Outside::Clamp : Outside::Zero;
  form.formatted = i.has("p");
  const auto* address = std::get_if<ptx::AddressOperand>(&operand.value);
  if (address == nullptr || address->parts.size() < 2)
    return l.error("surface instructions take an operand of the form [surface, {coordinates}]");
  form.handle = TRY(texture_handle(l, operand));
  const auto elements = l.elements(address->parts[1]);
  const size_t first = array ? 1 : 0;
  if (elements.size() < first + static_cast<size_t>(form.dimensions))
    return l.error(fmt::format("{} coordinates where the surface's geometry needs {}",
                               elements.size(), first + static_cast<size_t>(form.dimensions)));
  if (array) form.layer = TRY(l.source(*elements[0], Type::B32));
  for (int d = 0; d < form.dimensions; ++d)
    form.at[d] = TRY(l.source(*elements[first + static_cast<size_t>(d)], Type::S32));
  return Done{};
}

// The registers of a vector, all as wide as the first.
template <typename Find>
Result<Done> lower_values(Lowering& l, const ptx::Instruction& i, const ptx::Operand& operand,
                          SurfaceForm& form, Find find) {
  if (i.types.empty()) return l.error("a surface instruction names a type");
  const auto elements = l.elements(operand);
  const size_t wanted = i.has("v2") ? 2 : i.has("v4") ? 4 : 1;
  if (elements.size() != wanted)
    return l.error(fmt::format("{} registers where the vector has {}", elements.size(), wanted));
  form.elements = static_cast<uint32_t>(wanted);
  form.element_bytes = static_cast<uint32_t>(isa::bits(i.types.back())) / 8;
  for (size_t k = 0; k < wanted; ++k) {
    const Lowering::Sized sized = TRY(find(*elements[k], i.types.back()));
    const auto bytes = static_cast<uint32_t>(sized.bits) / 8;
    if (k != 0 && bytes != form.register_bytes)
      return l.error("the registers of a surface vector have one width");
    form.register_bytes = bytes;
    form.values[k] = sized.slot;
  }
  return Done{};
}

// sust, sured: [a, c], b.
Result<std::unique_ptr<SurfaceForm>> lower_writing_form(Lowering& l, const ptx::Instruction& i) {
  auto form = std::make_unique<SurfaceForm>();
  TRY(lower_place(l, i, i.operands[0], *form));
  TRY(lower_values(l, i, i.operands[1], *form, [&](const ptx::Operand& operand, Type type) {
    return l.any_source(operand, type);
  }));
  return form;
}

}  // namespace

Result<Done> lower_surface_load(Lowering& l, const ptx::Instruction& i) {
  auto form = std::make_unique<SurfaceForm>();
  TRY(lower_values(l, i, i.operands[0], *form, [&](const ptx::Operand& operand, Type type) {
    return l.any_destination(operand, type);
  }));
  TRY(lower_place(l, i, i.operands[1], *form));
  const SurfaceForm* kept = l.keep(std::move(form));
  l.emit(load_bits).extra = kept;
  return Done{};
}

Result<Done> lower_surface_store(Lowering& l, const ptx::Instruction& i) {
  auto form = TRY(lower_writing_form(l, i));
  const bool formatted = form->formatted;
  const SurfaceForm* kept = l.keep(std::move(form));
  l.emit(formatted ? store_samples : store_bits).extra = kept;
  return Done{};
}

Result<Done> lower_surface_reduction(Lowering& l, const ptx::Instruction& i) {
  auto form = TRY(lower_writing_form(l, i));
  for (const std::string_view word : {"add", "min", "max", "and", "or"})
    if (i.has(word)) form->reduction = word;
  if (!form->formatted) {
    const bool is_bitwise = form->reduction == "and" || form->reduction == "or";
    form->combine = find_reduction(form->reduction, i.types.back());
    if (form->combine == nullptr && !is_bitwise && i.types.back() == Type::S64)
      form->combine = find_reduction(form->reduction, Type::U64);  // the same sum
    if (form->combine == nullptr)
      return l.unsupported(fmt::format("{}: no reduction of this type", i.spelling()));
  }
  const bool formatted = form->formatted;
  const SurfaceForm* kept = l.keep(std::move(form));
  l.emit(formatted ? reduce_samples : reduce_bits).extra = kept;
  return Done{};
}

}  // namespace weft::emulator
