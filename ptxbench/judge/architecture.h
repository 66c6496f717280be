// SPDX-License-Identifier: Apache-2.0

// What candidates are compiled for. It follows from the device that they are judged for.
#pragma once

#include <string_view>

#include "ptxbench/judge/build.h"

namespace weft::judge {

// Of an emulated device's key, as nvcc writes it: "90a" for h100 and h200, "100a" for b200.
std::string_view architecture_of(std::string_view device);

// build_candidate for another architecture than Hopper's "90a".
Result<BuildOutcome> build_for(std::string_view architecture, const Candidate& candidate,
                               const Toolchain& toolchain, const BuildPlace& place,
                               const BuildLimits& limits);

}  // namespace weft::judge
