// SPDX-License-Identifier: Apache-2.0

// Whole files in and out. Writing replaces a file in one step, so that a reader or a crash never
// sees half of it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace weft {

// The bytes of the file as they are.
Result<std::string> read_file(const std::string& path);

// Creates missing parent folders.
Result<Done> write_file(const std::string& path, std::string_view content);

}  // namespace weft
