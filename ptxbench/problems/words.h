// SPDX-License-Identifier: Apache-2.0

// Tags are lists: of words between spaces, of names between commas.
#pragma once

#include <string_view>
#include <vector>

namespace weft::problems {

// The parts that are not empty.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace weft::problems
