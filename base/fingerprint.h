// SPDX-License-Identifier: Apache-2.0

// Whether a file is still the one that was seen before.
#pragma once

#include <string>

#include "base/result.h"

namespace weft {

// Size and SHA-256 of the first and last 64 KiB: enough to notice a file that was cut, replaced or
// rewritten (Parquet keeps its statistics at the end), in no time for files of any size.
Result<std::string> fingerprint(const std::string& path);

}  // namespace weft
