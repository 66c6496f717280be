// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/ops/texture_handle.h"

#include <fmt/format.h>

#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/memory/access.h"

namespace weft::emulator {

namespace {

// Whether the bytes lie in one allocation; remembers it for the next look.
bool is_allocated(Warp& warp, uint64_t address, uint64_t bytes) {
  const GlobalMemory& memory = *warp.block->grid->memory;
  const uint64_t generation = memory.generation();
  if (warp.cache.generation != generation) warp.cache = {.generation = generation};
  if (warp.cache.holds(address, address + bytes - 1)) return true;
  const auto allocation = memory.find(address);
  if (!allocation || address - allocation->address + bytes > allocation->size) return false;
  warp.cache.add({allocation->address, allocation->address + allocation->size - 1});
  return true;
}

const TextureObject* object_at(Warp& warp, uint64_t handle) {
  if (handle % alignof(TextureObject) != 0 || !is_allocated(warp, handle, sizeof(TextureObject)))
    return nullptr;
  const auto* object = reinterpret_cast<const TextureObject*>(handle);
  return object->magic == TextureObject::kMagic ? object : nullptr;
}

bool fits(const TextureObject& object, TextureUse use) {
  return use == TextureUse::Either || object.surface == (use == TextureUse::Surface);
}

}  // namespace

bool is_texture(Warp& warp, uint64_t handle, TextureUse use) {
  const TextureObject* object = object_at(warp, handle);
  return object != nullptr && fits(*object, use);
}

const TextureObject* find_texture(Warp& warp, const Op& op, int lane, uint64_t handle,
                                  TextureUse use) {
  const std::string_view wanted = use == TextureUse::Surface ? "surface" : "texture";
  const TextureObject* object = object_at(warp, handle);
  if (object == nullptr) {
    warp.fault(op, lane, FaultKind::InvalidDescriptor,
               fmt::format("no {} object behind the handle: {:#x}", wanted, handle), handle,
               {"make it with cudaCreateTextureObject or cudaCreateSurfaceObject and keep it until "
                "the kernel has ended"});
    return nullptr;
  }
  if (!fits(*object, use)) {
    warp.fault(op, lane, FaultKind::InvalidDescriptor,
               fmt::format("the handle stands for a {} object where the instruction takes a {}: "
                           "{:#x}",
                           object->surface ? "surface" : "texture", wanted, handle),
               handle);
    return nullptr;
  }
  for (uint32_t k = 0; k < object->level_count; ++k) {
    const TextureObject::Level& level = object->levels[k];
    if (is_allocated(warp, level.data, level.bytes())) continue;
    warp.fault(op, lane, FaultKind::OutOfBounds,
               fmt::format("the {} object's texels lie outside every allocation: {} bytes at {:#x}",
                           wanted, level.bytes(), level.data),
               level.data,
               {describe_address(*warp.block, level.data, level.bytes()),
                "an array or memory must live as long as the objects that look at it"});
    return nullptr;
  }
  return object;
}

Result<Slot> texture_handle(Lowering& l, const ptx::Operand& operand) {
  const auto* address = std::get_if<ptx::AddressOperand>(&operand.value);
  const ptx::Operand& base =
      address != nullptr && !address->parts.empty() ? address->parts[0] : operand;
  if (address != nullptr && address->parts.size() > 2)
    return l.error("a sampler apart from the texture exists in .texmode_independent only",
                   "use texture objects, which carry their sampler");
  if (std::holds_alternative<ptx::SymbolOperand>(base.value))
    return l.error("texture references are no longer part of CUDA",
                   "pass a texture or surface object in a 64-bit register");
  return l.source(base, isa::Type::B64);
}

}  // namespace weft::emulator
