// SPDX-License-Identifier: Apache-2.0

// How many calls with fresh inputs may be asked for (Settings::trials): the same for the command
// line, the service and the judge itself.
#pragma once

namespace weft::judge {

constexpr unsigned kMostTrials = 64;

}  // namespace weft::judge
