// SPDX-License-Identifier: Apache-2.0

// The header of a PTX test case: what the program is given and what it must give.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/emulator/machine.h"
#include "ptxbench/isa/types.h"

namespace weft::ptx_cases {

// One value: its bits, or what may stand for it.
struct Value {
  enum class Kind : uint8_t { Bits, AnyNan, Anything };
  Kind kind = Kind::Bits;
  uint64_t bits = 0;
};

struct Item {
  // Expect: an `out` line for an array that an earlier line gives.
  enum class Role : uint8_t { In, Out, Value, Data, Map, Texture, Surface, Expect };
  Role role = Role::In;
  std::string name;
  isa::Type type = isa::Type::None;
  std::vector<Value> values;
  // Maps only: the array, and the numbers after each word.
  std::string of;
  std::vector<uint64_t> extents, box, strides, element_strides;
  uint32_t swizzle = 0;
  bool fill_nan = false;
  // Textures and surfaces: the array is `of`, its size in texels `extents`.
  uint32_t channels = 1, address_mode = 1;  // wrap 0, clamp 1, mirror 2, border 3
  bool linear = false, normalized = false, floats = false, layered = false, cube = false;

  bool is_parameter() const { return role != Role::Data && role != Role::Expect; }
  bool is_array() const { return role == Role::In || role == Role::Out || role == Role::Data; }
  size_t bytes() const { return values.size() * static_cast<size_t>(isa::bits(type)) / 8; }
};

struct CaseFile {
  std::string text;  // the whole file: the PTX assembler reads past comments
  std::string title;
  emulator::Extent grid, block, cluster;
  uint32_t shared = 0;
  bool only_plain_order = false;  // a schedule may hide what is wrong
  std::string device = "h100";
  std::vector<Item> items;  // in the order of the header
  std::optional<std::string> fault_kind, fault_text;
  std::optional<std::string> refused;
  std::optional<std::string> checks;  // the emulator looks for these only
  bool races = false;                 // on purpose: checks would find what the case shows
  bool only_emulator = false;         // states a promise of the emulator, not of the manual
};

Result<CaseFile> parse_case(std::string text);

}  // namespace weft::ptx_cases
