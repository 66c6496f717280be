// SPDX-License-Identifier: Apache-2.0

// Are the bytes that came back from a call right, and are the inputs still what they were?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/session.h"
#include "ptxbench/problems/comparison.h"
#include "ptxbench/problems/reference.h"
#include "ptxbench/problems/workload.h"
#include "ptxbench/wire/trace.h"

namespace weft::judge {

// What went in and what should come out. Never leaves the judge's process.
struct Expectation {
  std::vector<problems::Tensor> inputs;
  problems::Expected outputs;
  std::vector<problems::Mask> masks;  // one an output: positions that are not compared
};

Result<Expectation> expect(const problems::Task& task, uint64_t seed, unsigned trial);

// Damage that a call did to what it was given: guard zones, descriptions, threads that run on.
std::optional<Failure> check_manners(const CallOutcome& call, unsigned number);

// Compares all tensors of a call; `bytes` are inputs, then outputs. What was compared is added to
// `correctness`.
Result<std::optional<Failure>> check_tensors(const problems::Task& task,
                                             const Expectation& expected,
                                             const std::vector<std::string>& bytes, uint8_t poison,
                                             unsigned number, wire::Correctness& correctness);

// "matrix element C[3, 7] is 0.5, expected 1.25; ..." for one output that did not pass.
std::string explain(const wire::OutputComparison& comparison);

}  // namespace weft::judge
