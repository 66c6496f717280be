// SPDX-License-Identifier: Apache-2.0

// Is the timer on this device to be believed? A kernel of known length, an empty kernel, and one
// that reads half of the L2 cache with the cache cold and warm.
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace weft::baselines {

// Times in nanoseconds, every sample; what they prove is decided by whoever reads them.
Result<Json> test_timer();

}  // namespace weft::baselines
