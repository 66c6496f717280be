// SPDX-License-Identifier: Apache-2.0

// Predefined read-only registers (PTX ISA 9.0, section 10).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ptxbench/isa/types.h"

namespace weft::isa {

struct SpecialRegisterInfo {
  std::string_view name;  // without the %
  Type type;              // of a component
  bool vector;            // has .x .y .z .w
  uint16_t since;         // PTX version, times ten
};

std::span<const SpecialRegisterInfo> special_registers();

// "tid" -> its row, nullptr when there is none. No leading %.
const SpecialRegisterInfo* find_special_register(std::string_view name);

}  // namespace weft::isa
