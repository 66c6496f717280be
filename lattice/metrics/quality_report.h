// SPDX-License-Identifier: Apache-2.0

// A slice's measures as JSON: each with its interval, or null and the reason.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/json.h"
#include "lattice/metrics/resampling.h"

namespace weft::lattice {

// {"rows", "positives", "ne_background", "log_loss": {"value", "low", "high"}, ...}
Json to_json(const Quality& quality, const Values& values, const Intervals& intervals);

}  // namespace weft::lattice
