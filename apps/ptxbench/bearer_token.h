// SPDX-License-Identifier: Apache-2.0

// The token between server and clients comes from the environment: a command line is there for
// every user of the machine to read.
#pragma once

#include <string>

#include "base/result.h"

namespace weft::ptxbench {

// The value of a variable, which must be set; empty when `variable` is: no token is used.
Result<std::string> bearer_token(const std::string& variable);

}  // namespace weft::ptxbench
