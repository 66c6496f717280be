// SPDX-License-Identifier: Apache-2.0

// Makes one text of a CUDA source and the local files that it includes, so that a candidate is one
// string wherever it is stored, hashed or sent, and is compiled where no other file of the project
// lies.
#pragma once

#include <string>

#include "base/result.h"

namespace weft::judge {

// Includes that no file answers stay as they are: the compiler's search path may know them. An
// include that leads out of `root` is refused.
Result<std::string> bundle_source(const std::string& path, const std::string& root);

}  // namespace weft::judge
