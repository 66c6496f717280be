// SPDX-License-Identifier: Apache-2.0

// Element types of matrix operands, as tiles see them.
#pragma once

#include <cstdint>

namespace weft::emulator {

enum class TileElement : uint8_t { F16, Bf16, Tf32, E4m3, E5m2, S8, U8, S4, U4, B1 };

constexpr int element_bits(TileElement element) {
  switch (element) {
    case TileElement::F16:
    case TileElement::Bf16:
      return 16;
    case TileElement::Tf32:
      return 32;
    case TileElement::S4:
    case TileElement::U4:
      return 4;
    case TileElement::B1:
      return 1;
    default:
      return 8;
  }
}
// Elements in the 16 bytes of a core matrix row.
constexpr int chunk_elements(TileElement element) {
  return 128 / element_bits(element);
}
constexpr bool is_integer(TileElement element) {
  return element >= TileElement::S8 && element <= TileElement::U4;
}
constexpr bool is_signed(TileElement element) {
  return element == TileElement::S8 || element == TileElement::S4;
}
constexpr bool fits_bf16(TileElement element) {
  return element == TileElement::Bf16 || element == TileElement::E4m3 ||
         element == TileElement::E5m2;
}

}  // namespace weft::emulator
