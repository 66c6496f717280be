// SPDX-License-Identifier: Apache-2.0

// Spellings of the state spaces.
#include "ptxbench/isa/spaces.h"

namespace weft::isa {

std::string_view name(Space space) {
  switch (space) {
    case Space::Generic:
      return "generic";
    case Space::Register:
      return "reg";
    case Space::Constant:
      return "const";
    case Space::Global:
      return "global";
    case Space::Local:
      return "local";
    case Space::Param:
      return "param";
    case Space::ParamFunction:
      return "param::func";
    case Space::Shared:
      return "shared";
    case Space::SharedCluster:
      return "shared::cluster";
    case Space::Texture:
      return "tex";
  }
  return "";
}

std::optional<Space> parse_space(std::string_view word) {
  if (word == "reg") return Space::Register;
  if (word == "const") return Space::Constant;
  if (word == "global") return Space::Global;
  if (word == "local") return Space::Local;
  if (word == "param" || word == "param::entry") return Space::Param;
  if (word == "param::func") return Space::ParamFunction;
  if (word == "shared" || word == "shared::cta") return Space::Shared;
  if (word == "shared::cluster") return Space::SharedCluster;
  if (word == "tex") return Space::Texture;
  return std::nullopt;
}

}  // namespace weft::isa
