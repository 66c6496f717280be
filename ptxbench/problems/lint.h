// SPDX-License-Identifier: Apache-2.0

// Does a workload deserve trust? It is admitted when kernels that compute nothing are rejected by
// its comparison, a right answer is accepted, every input has influence, and the outputs are
// neither constant nor infinite.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/workload.h"

namespace weft::problems {

struct LintCheck {
  std::string rule;     // "null_kernel", "control", "influence", "spread", "elements", "finite"
  std::string subject;  // "O: zeros", "input K"
  bool passed = false;
  std::string detail;  // what was measured
};

struct Admission {
  std::string definition;
  Axes axes;                           // of the run, perhaps reduced
  std::vector<std::string> workloads;  // uuids that this run stands for
  std::vector<std::string> reduced;    // "H: 48 -> 1"
  std::vector<LintCheck> checks;

  bool admitted() const;
};

// What one run may cost, in operations of one reference; a run takes about a dozen.
constexpr double kLintOperations = 1.5e9;

// The task with the axes of the tag "reduced:" and, where that is not enough, the longest axis by
// workload halved until a reference costs no more than `operations`.
Result<Task> shrunk(const Definition& definition, const Workload& workload, double operations);

// One run at the task's own axes.
Result<Admission> lint_task(const Task& task, uint64_t seed);

// Every workload, shrunk to `operations`. The tag "reduced:" gives axes that only repeat the
// work (batch, heads, rows) small values. Workloads that come out alike share a run.
Result<std::vector<Admission>> lint_definition(const Definition& definition,
                                               const std::vector<Workload>& workloads,
                                               uint64_t seed, double operations = kLintOperations);

}  // namespace weft::problems
