// SPDX-License-Identifier: Apache-2.0

// The calls that a candidate must answer for one workload, and why each is made:
//   1  fresh inputs                        faults, guard zones, every element written
//   2  fresh inputs, same memory           results kept by pointer or shape
//   3  the same inputs, other memory       pointers kept from before; equal bits expected
//   4+ fresh inputs, none to a few times   results right for the first calls only
// Poison and guard patterns change from call to call.
#pragma once

#include <cstdint>
#include <vector>

#include "ptxbench/judge/settings.h"
#include "ptxbench/problems/workload.h"

namespace weft::judge {

struct PlannedCall {
  unsigned trial = 0;  // of the inputs
  bool fresh = false;  // they are other inputs than in the call before
  bool move = false;   // into memory that no call has seen
  uint8_t poison = 0;  // in every byte of the outputs beforehand
  uint8_t guard = 0;   // in every byte of the zones around the tensors
};

// All of it follows from `seed`, so that a replay makes the same calls.
std::vector<PlannedCall> plan_calls(const Settings& settings, const problems::Task& task,
                                    uint64_t seed);

}  // namespace weft::judge
