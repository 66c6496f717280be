// SPDX-License-Identifier: Apache-2.0

// From the type in an instruction's suffix to the C++ type of its lanes. `pick` is a lambda with
// one template parameter that returns a handler.
#pragma once

#include <cstdint>

#include "ptxbench/emulator/op.h"
#include "ptxbench/isa/types.h"

namespace weft::emulator {

// Unsigned, signed and untyped integers of 16, 32 and 64 bits; nullptr for others.
template <typename Pick>
Handler by_integer_type(isa::Type type, Pick pick) {
  switch (type) {
    case isa::Type::U16:
    case isa::Type::B16:
      return pick.template operator()<uint16_t>();
    case isa::Type::U32:
    case isa::Type::B32:
      return pick.template operator()<uint32_t>();
    case isa::Type::U64:
    case isa::Type::B64:
      return pick.template operator()<uint64_t>();
    case isa::Type::S16:
      return pick.template operator()<int16_t>();
    case isa::Type::S32:
      return pick.template operator()<int32_t>();
    case isa::Type::S64:
      return pick.template operator()<int64_t>();
    default:
      return nullptr;
  }
}

// Where the sign makes no difference.
template <typename Pick>
Handler by_width(isa::Type type, Pick pick) {
  switch (isa::bits(type)) {
    case 16:
      return pick.template operator()<uint16_t>();
    case 32:
      return pick.template operator()<uint32_t>();
    case 64:
      return pick.template operator()<uint64_t>();
    default:
      return nullptr;
  }
}

// Integers of 32 and 64 bits only.
template <typename Pick>
Handler by_long_type(isa::Type type, Pick pick) {
  switch (type) {
    case isa::Type::U32:
    case isa::Type::B32:
      return pick.template operator()<uint32_t>();
    case isa::Type::U64:
    case isa::Type::B64:
      return pick.template operator()<uint64_t>();
    case isa::Type::S32:
      return pick.template operator()<int32_t>();
    case isa::Type::S64:
      return pick.template operator()<int64_t>();
    default:
      return nullptr;
  }
}

}  // namespace weft::emulator
