// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/call_plan.h"

#include "base/mix.h"
#include "ptxbench/problems/reference.h"

namespace weft::judge {
namespace {

// One is NaN in every floating type, the other a huge number.
constexpr uint8_t kPoisons[] = {0xFF, 0x7B};
constexpr uint8_t kGuards[] = {0x7D, 0xFF};

// A task so small that more calls cost nothing, in floating-point operations.
constexpr double kSmallTask = 1e9;

unsigned extra_calls(const Settings& settings, const problems::Task& task, uint64_t seed) {
  const bool small = problems::floating_point_operations(task).value_or(0) < kSmallTask;
  return small ? static_cast<unsigned>(mix(seed, 1) % (settings.extra_calls + uint64_t{1})) : 0;
}

}  // namespace

std::vector<PlannedCall> plan_calls(const Settings& settings, const problems::Task& task,
                                    uint64_t seed) {
  std::vector<PlannedCall> calls;
  const auto first_pattern = static_cast<unsigned>(mix(seed, 2) % 2);
  const auto add = [&](PlannedCall call) {
    const size_t pattern = (first_pattern + calls.size()) % 2;
    call.fresh = calls.empty() || calls.back().trial != call.trial;
    call.poison = kPoisons[pattern];
    call.guard = kGuards[pattern];
    calls.push_back(call);
  };
  for (unsigned trial = 0; trial < settings.trials; ++trial) add({.trial = trial});
  add({.trial = settings.trials - 1, .move = true});
  for (unsigned i = extra_calls(settings, task, seed); i > 0; --i)
    add({.trial = calls.back().trial + 1});
  return calls;
}

}  // namespace weft::judge
