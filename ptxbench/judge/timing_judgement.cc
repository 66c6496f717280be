// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/timing_judgement.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/invariant.h"
#include "ptxbench/judge/timing_statistics.h"

namespace weft::judge {
namespace {

// A time under this many empty kernels is mostly overhead.
constexpr double kOverheadBound = 5;
// The first and the last tenth of the samples differ by this much when something drifts.
constexpr double kDrift = 0.03;
// A batch may take this much longer a call than the device times say: clocks sink under constant
// load, launches cost host time.
constexpr double kWallFactor = 1.3, kWallSlackMilliseconds = 20e-3;

void summarise(wire::Samples& samples) {
  samples.median_ms = quantile(samples.nanoseconds, 0.5) / 1e6;
  samples.p10_ms = quantile(samples.nanoseconds, 0.1) / 1e6;
  samples.p90_ms = quantile(samples.nanoseconds, 0.9) / 1e6;
  samples.spread = spread(samples.nanoseconds);
}

bool drifts(const std::vector<double>& samples) {
  const auto tenth = static_cast<std::ptrdiff_t>(samples.size() / 10);
  if (tenth == 0) return false;
  const double first = quantile({samples.begin(), samples.begin() + tenth}, 0.5);
  const double last = quantile({samples.end() - tenth, samples.end()}, 0.5);
  return std::abs(first / last - 1) > kDrift;
}

}  // namespace

void weigh(wire::Timing& timing, const std::optional<Roofline>& roof, const std::string& device) {
  summarise(timing.candidate);
  if (timing.library) summarise(*timing.library);
  if (!timing.ratios.empty()) {
    const Interval interval = median_interval(timing.ratios, kTimingConfidence);
    timing.ratio_median = quantile(timing.ratios, 0.5);
    timing.ratio_low = interval.low;
    timing.ratio_high = interval.high;
    timing.ratio_confidence = kTimingConfidence;
  }
  if (roof)
    timing.floor_ms = roof->seconds * 1e3;
  else
    timing.floor_reason = "the peak of this device is not known: " + device;
  if (timing.empty_kernel_ms)
    timing.overhead_bound = timing.candidate.median_ms < kOverheadBound * *timing.empty_kernel_ms;
  if (timing.overhead_bound)
    timing.notes.push_back("overhead-bound: under five times an empty kernel");
  for (const wire::DeviceCondition* state : {&timing.before, &timing.after})
    if (!state->throttled.empty()) timing.notes.push_back("throttled: " + state->throttled);
  if (drifts(timing.candidate.nanoseconds))
    timing.notes.push_back("drift: the first and the last tenth differ by more than 3 %");
}

std::optional<Failure> unconfirmed(wire::Timing& timing, double sinking, unsigned calls) {
  INVARIANT(timing.candidate.wall_ms.has_value());
  const double median = timing.candidate.median_ms, wall = *timing.candidate.wall_ms;
  // What is too short for the host to keep up with proves nothing.
  if (median < kWallSlackMilliseconds) {
    timing.notes.push_back("too short for the judge's own clock to confirm");
    return std::nullopt;
  }
  if (wall <= kWallFactor * std::min(sinking, kWallFactor) * median + kWallSlackMilliseconds)
    return std::nullopt;
  return Failure{
      wire::Status::RuntimeError,
      fmt::format("invalid timing: the candidate's process reported {:.4f} ms a call, but {} calls "
                  "back to back took {:.4f} ms each by the judge's clock",
                  median, calls, wall)};
}

std::optional<Failure> impossible(const wire::Timing& timing) {
  if (!timing.floor_ms) return std::nullopt;
  const std::vector<double>& all = timing.candidate.nanoseconds;
  const double least = *std::min_element(all.begin(), all.end()) / 1e6;
  if (least >= *timing.floor_ms) return std::nullopt;
  return Failure{wire::Status::RuntimeError,
                 fmt::format("invalid timing: {:.4f} ms is below the {:.4f} ms that this device "
                             "needs at its highest clock",
                             least, *timing.floor_ms)};
}

}  // namespace weft::judge
