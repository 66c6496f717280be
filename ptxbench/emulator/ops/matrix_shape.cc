// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/ops/matrix_shape.h"

#include <charconv>

namespace weft::emulator {

std::optional<MmaShape> parse_mma_shape(std::string_view word) {
  MmaShape shape;
  const char* at = word.data();
  const char* const end = at + word.size();
  for (auto [letter, value] : {std::pair{'m', &shape.m}, {'n', &shape.n}, {'k', &shape.k}}) {
    if (at == end) return letter == 'k' ? std::optional(shape) : std::nullopt;
    if (*at != letter) return std::nullopt;
    const auto [next, error] = std::from_chars(at + 1, end, *value);
    if (error != std::errc{}) return std::nullopt;
    at = next;
  }
  return at == end ? std::optional(shape) : std::nullopt;
}

std::optional<MmaShape> mma_shape(const ptx::Instruction& instruction) {
  for (std::string_view modifier : instruction.modifiers)
    if (auto shape = parse_mma_shape(modifier)) return shape;
  return std::nullopt;
}

std::optional<TileElement> tile_element(isa::Type type) {
  switch (type) {
    case isa::Type::F16:
      return TileElement::F16;
    case isa::Type::Bf16:
      return TileElement::Bf16;
    case isa::Type::Tf32:
      return TileElement::Tf32;
    case isa::Type::E4m3:
      return TileElement::E4m3;
    case isa::Type::E5m2:
      return TileElement::E5m2;
    case isa::Type::S8:
      return TileElement::S8;
    case isa::Type::U8:
      return TileElement::U8;
    case isa::Type::S4:
      return TileElement::S4;
    case isa::Type::U4:
      return TileElement::U4;
    case isa::Type::B1:
      return TileElement::B1;
    default:
      return std::nullopt;
  }
}

}  // namespace weft::emulator
