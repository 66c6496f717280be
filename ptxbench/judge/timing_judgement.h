// SPDX-License-Identifier: Apache-2.0

// What samples of a candidate and a library amount to, what has to be said beside them, and when
// they cannot be true.
#pragma once

#include <optional>
#include <string>

#include "ptxbench/judge/roofline.h"
#include "ptxbench/judge/session.h"
#include "ptxbench/wire/timing.h"

namespace weft::judge {

constexpr double kTimingConfidence = 0.95;

// Medians, spreads, the interval of the ratio, the floor, and notes: overhead, throttling, drift.
// `roof` is what the device needs for the task at its highest clock, when that is known.
void weigh(wire::Timing& timing, const std::optional<Roofline>& roof, const std::string& device);

// Against the judge's own clock: `timing.candidate.wall_ms` a call over `calls` calls back to back.
// `sinking`, at least 1, is how much longer the library's batch took than its samples say. A time
// that is too short to tell leaves a note.
std::optional<Failure> unconfirmed(wire::Timing& timing, double sinking, unsigned calls);

// A sample below the floor.
std::optional<Failure> impossible(const wire::Timing& timing);

}  // namespace weft::judge
