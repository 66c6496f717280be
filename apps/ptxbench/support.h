// SPDX-License-Identifier: Apache-2.0

// ptxbench inspect --support: what of a PTX text the emulator does not execute, in one pass.
#pragma once

#include <string>

namespace weft::ptxbench {

// `file` names the text in messages. Exit codes: 0 everything executes, 1 not, or the text is no
// PTX that can be loaded.
int inspect_support(const std::string& ptx, const std::string& file, bool json);

}  // namespace weft::ptxbench
