// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/timer_check.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/subprocess.h"
#include "ptxbench/judge/bench.h"
#include "ptxbench/judge/device.h"
#include "ptxbench/judge/timing_statistics.h"

namespace weft::judge {
namespace {

constexpr double kKnownWithin = 0.02;
// Cold reads must not beat the memory's pins, warm ones must clearly leave them behind.
constexpr double kWarmOverCold = 1.5;
constexpr double kSeconds = 120;

double median_of(const Json& samples, const char* name) {
  const std::vector<double> times = numbers_in(samples, name);
  return times.empty() ? 0 : quantile(times, 0.5);
}

TimerFinding known(const Json& samples, const char* name, const char* timer) {
  const double expected = number_in(samples, "known_ns"), read = median_of(samples, name);
  const double off = expected > 0 ? read / expected - 1 : 1;
  return {fmt::format("known kernel by {}", timer), std::abs(off) <= kKnownWithin,
          fmt::format("{:.4f} ms reads as {:.4f} ms ({:+.3f} %)", expected / 1e6, read / 1e6,
                      100 * off)};
}

}  // namespace

bool TimerCheck::passed() const {
  return std::all_of(findings.begin(), findings.end(),
                     [](const TimerFinding& finding) { return finding.good; });
}

TimerCheck judge_timer(const Json& samples, const DeviceFacts& facts) {
  TimerCheck check;
  check.samples = samples;
  check.findings.push_back(known(samples, "known_records", "CUPTI"));
  check.findings.push_back(known(samples, "known_events", "events"));
  const double empty = median_of(samples, "empty_records");
  check.findings.push_back({"empty kernel", empty > 0,
                            fmt::format("{:.2f} us by CUPTI, {:.2f} us by events", empty / 1e3,
                                        median_of(samples, "empty_events") / 1e3)});
  const double cold = median_of(samples, "cold_read"), warm = median_of(samples, "warm_read");
  const double bytes = number_in(samples, "read_bytes");
  if (cold <= 0 || warm <= 0) {
    check.findings.push_back({"cold L2", false, "not measured"});
    return check;
  }
  // Bytes a nanosecond are gigabytes a second; two transfers a cycle.
  const double pins = 2e-3 * facts.max_memory_mhz * facts.memory_bus_bits / 8;
  check.findings.push_back(
      {"cold L2", bytes / cold <= pins && cold / warm >= kWarmOverCold,
       fmt::format(
           "reading {:.1f} MB, half of L2: {:.0f} GB/s cold, {:.0f} GB/s warm; the memory's "
           "pins carry {:.0f} GB/s",
           bytes / 1e6, bytes / cold, bytes / warm, pins)});
  return check;
}

Result<TimerCheck> check_timer(unsigned device, const Toolchain& toolchain) {
  const DeviceMonitor monitor = TRY(DeviceMonitor::open(device));
  if (toolchain.library.empty())
    return Error("ptxbench-library is missing beside this program",
                 "build the target ptxbench-library");
  Command command;
  command.arguments = {toolchain.library, "timer"};
  command.extra_environment = {{"LD_LIBRARY_PATH", vendor_library_path(toolchain)},
                               {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
                               {"CUDA_VISIBLE_DEVICES", std::to_string(device)}};
  command.limits.seconds = kSeconds;
  const ProcessOutcome outcome = TRY(weft::run(command));
  if (!outcome.passed())
    return Error("the timer's self-test " + outcome.describe() + ": " + outcome.errors);
  const Json samples = TRY(parse_json(outcome.output));
  return judge_timer(samples, monitor.facts());
}

}  // namespace weft::judge
