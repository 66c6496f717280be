// SPDX-License-Identifier: Apache-2.0

// Reading the modifiers that matrix instructions share.
#pragma once

#include <optional>
#include <string_view>

#include "ptxbench/emulator/tile/element.h"
#include "ptxbench/isa/types.h"
#include "ptxbench/ptx/ast.h"

namespace weft::emulator {

struct MmaShape {
  int m = 0, n = 0, k = 0;
};
// The modifier m…n…k… of the instruction; k is 0 for m8n8.
std::optional<MmaShape> mma_shape(const ptx::Instruction& instruction);
std::optional<MmaShape> parse_mma_shape(std::string_view word);

// Nothing for types that are no operand of a tile product (f64).
std::optional<TileElement> tile_element(isa::Type type);

}  // namespace weft::emulator
