// SPDX-License-Identifier: Apache-2.0

// A comparison to look at: one page of HTML that needs no network.
#pragma once

#include <string>

#include "base/json.h"

namespace weft::lattice {

// `report` is what evaluate_models and compare_runs return: "models" with their slices,
// "differences" and, of a world, "best_possible". Plots, each an SVG with 95 % intervals: NE and
// AUC of every served slice (a dashed line is the best possible NE), differences to the first model
// by slice, and mean NE against FLOPs an impression. A plot without a number in it says so.
std::string comparison_page(const Json& report);

}  // namespace weft::lattice
