// SPDX-License-Identifier: Apache-2.0

// Links PTX units into one: what the driver's linker does for programs compiled with -rdc=true and
// for cuLink*. It works on the text, so that the result is parsed like any other module.
#pragma once

#include <span>
#include <string>

#include "base/result.h"

namespace weft::fatbin {

// Names that are internal to a unit stay apart, weak definitions give way to others, declarations
// meet their definitions. A name defined twice is an error; one defined nowhere is left to the
// loader.
Result<std::string> link_ptx(std::span<const std::string> units);

}  // namespace weft::fatbin
