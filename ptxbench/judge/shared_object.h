// SPDX-License-Identifier: Apache-2.0

// The names that an ELF shared object needs, imports and exports, read from its dynamic section.
// The file was made by the candidate's build, so every offset in it is checked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weft::judge {

struct SharedObject {
  std::vector<std::string> needed;   // libraries
  std::vector<std::string> imports;  // undefined dynamic symbols
  std::vector<std::string> exports;  // defined ones
};

Result<SharedObject> read_shared_object(std::string_view bytes);

}  // namespace weft::judge
