// SPDX-License-Identifier: Apache-2.0

// From the handle in a register to the texture or surface object that it stands for, with the
// object's memory checked.
#pragma once

#include <cstdint>

#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/texture_object.h"

namespace weft::emulator {

struct Warp;

// The object that a lane names; nullptr after a fault. `kind` says what the instruction takes.
enum class TextureUse : uint8_t { Texture, Surface, Either };
const TextureObject* find_texture(Warp& warp, const Op& op, int lane, uint64_t handle,
                                  TextureUse use);
// Whether a handle stands for an object of the kind; no fault when it does not.
bool is_texture(Warp& warp, uint64_t handle, TextureUse use);

// [handle] or [handle, {coordinates}]: the handle's operand, and an error for a sampler of its own
// ([texture, sampler, {coordinates}]) or for a .texref variable, which no CUDA 13 program makes.
Result<Slot> texture_handle(Lowering& lowering, const ptx::Operand& operand);

// Calls `f(lane, object)` for the lanes in turn; the object is looked up once for lanes that name
// the same one. Stops with Outcome::Fault when f returns false.
template <typename F>
Outcome for_textures(Warp& warp, const Op& op, LaneMask exec, const uint64_t* handles,
                     TextureUse use, F&& f) {
  const TextureObject* object = nullptr;
  uint64_t current = 0;
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    if (object == nullptr || handles[lane] != current) {
      current = handles[lane];
      object = find_texture(warp, op, lane, current, use);
      if (object == nullptr) return Outcome::Fault;
    }
    if (!f(lane, *object)) return Outcome::Fault;
  }
  return Outcome::Next;
}

// The chapter's instructions, one file each; texture.cc lists them.
std::span<const Meaning> texture_meanings();
Result<Done> lower_surface_load(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> lower_surface_store(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> lower_surface_reduction(Lowering& lowering, const ptx::Instruction& instruction);
// txq, suq and istypep.
Result<Done> lower_texture_query(Lowering& lowering, const ptx::Instruction& instruction);
Result<Done> lower_type_query(Lowering& lowering, const ptx::Instruction& instruction);

}  // namespace weft::emulator
