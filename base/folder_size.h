// SPDX-License-Identifier: Apache-2.0

// How much a folder holds, for limits on what a program may leave there.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

// Bytes on the disk (or in memory) of all files in a folder. Counting stops beyond `most`, and a
// name counts as a block, so that no number of files makes this slow. What cannot be read is left
// out.
uint64_t bytes_in(const std::string& folder, uint64_t most);

}  // namespace weft
