// SPDX-License-Identifier: Apache-2.0

// PTX text to a module (PTX ISA 9.0). The error holds up to about twenty located diagnostics; no
// input, however broken, does worse than that.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ptxbench/ptx/ast.h"

namespace weft::ptx {

Result<std::shared_ptr<const Module>> parse(std::string text, std::string file_name);

}  // namespace weft::ptx
