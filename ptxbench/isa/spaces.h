// SPDX-License-Identifier: Apache-2.0

// State spaces (PTX ISA 9.0, section 5.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::isa {

enum class Space : uint8_t {
  Generic,  // no space written: the address says which
  Register,
  Constant,
  Global,
  Local,
  Param,          // kernel parameters (.param, .param::entry)
  ParamFunction,  // parameters of a device function (.param::func)
  Shared,         // .shared and .shared::cta
  SharedCluster,  // .shared::cluster
  Texture,
};

std::string_view name(Space space);  // "global", "shared::cluster", ...
// "shared::cta" -> Space::Shared; nothing when the word is no state space. No leading dot.
std::optional<Space> parse_space(std::string_view word);

}  // namespace weft::isa
