// SPDX-License-Identifier: Apache-2.0

// One workload of a candidate that has been built: sanitize, correctness, audit, timing.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ptxbench/judge/candidate.h"
#include "ptxbench/judge/correctness.h"
#include "ptxbench/judge/settings.h"
#include "ptxbench/judge/toolchain.h"
#include "ptxbench/problems/workload.h"
#include "ptxbench/wire/trace.h"

namespace weft::judge {

struct WorkloadVerdict {
  wire::Trace trace;  // with its audit; the stages in it begin with "sanitize"
  unsigned requested_calls = 0, completed_calls = 0;
  bool clean = false;  // the first call ran to its end without a fault or damage
};

// A trace without its evaluation.
wire::Trace describe_workload(const Candidate& candidate, const problems::Task& task);

struct BuiltCode {
  std::string object;  // path of the shared object or PTX text to run
  std::string ptx;     // the PTX in it
};

// `folder` is scratch of this workload alone.
Result<WorkloadVerdict> judge_workload(const Candidate& candidate, const BuiltCode& code,
                                       const problems::Task& task, const Toolchain& toolchain,
                                       const Settings& settings, const std::string& folder);

}  // namespace weft::judge
