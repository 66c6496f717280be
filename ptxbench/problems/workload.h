// SPDX-License-Identifier: Apache-2.0

// A workload (one set of axis values for a definition) and the task that it becomes once every axis
// has a value: the sizes that inputs, references and comparisons work with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ptxbench/problems/definition.h"
#include "ptxbench/problems/expression.h"

namespace weft::problems {

struct Workload {
  std::string uuid;
  Axes axes;
  std::map<std::string, double, std::less<>> scalars;  // values of scalar inputs
};

// JSON Lines: workload-only traces ({"definition", "workload", ...}) for this definition.
Result<std::vector<Workload>> read_workloads(const std::string& text, const std::string& file,
                                             const Definition& definition);

// Axis values asked for on the command line, in the order given: "M=256,K=512".
using Overrides = std::vector<std::pair<std::string, int64_t>>;
Result<Overrides> parse_overrides(std::string_view text);

struct Task {
  Definition definition;
  Workload workload;
  Overrides overrides;  // what departs from the workload or from const axes
  Axes axes;            // every axis of the definition

  std::vector<int64_t> shape(const TensorSpec& spec) const;
  int64_t axis(std::string_view name) const;  // must exist
  uint64_t bytes() const;                     // of all inputs and outputs
};

// Gives every axis its value and checks the definition's constraints.
Result<Task> resolve(Definition definition, Workload workload, Overrides overrides);

}  // namespace weft::problems
