// SPDX-License-Identifier: Apache-2.0

// Integer expressions over axes, as constraints ("K % 8 == 0") and launch descriptions
// ("ceil_div(M, 128)") write them: + - * / // % comparisons, `and`, `or`, min, max, ceil_div.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weft::problems {

using Axes = std::map<std::string, int64_t, std::less<>>;

// Comparisons yield 1 or 0. Division rounds down, as in Python. Errors carry the column.
Result<int64_t> evaluate(std::string_view expression, const Axes& axes);

}  // namespace weft::problems
