// SPDX-License-Identifier: Apache-2.0

// A Trace of the FlashInfer schema: one workload, one candidate, what came of it. A field that was
// not measured is absent here and null on the wire, with the reason beside it; nothing has a
// default score.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "ptxbench/wire/audit.h"
#include "ptxbench/wire/status.h"
#include "ptxbench/wire/timing.h"

namespace weft::wire {

// How one output of one trial compared.
struct OutputComparison {
  std::string output;
  unsigned trial = 0;  // which call, from 0
  bool passed = false;
  std::string reason;                    // why not
  std::string rule;                      // the tolerance in force, in words
  std::string tolerance_origin;          // each part's value and layer, and where it comes from
  std::optional<std::string> precision;  // the class that the error speaks of, where it does
  int64_t elements = 0, mismatched = 0, non_finite = 0, untouched = 0;
  double max_absolute_error = 0, max_relative_error = 0, relative_norm = 0;
  std::vector<int64_t> first_bad;  // index
  double first_expected = 0, first_actual = 0;
  int64_t bad_row_first = 0, bad_row_last = 0, bad_column_first = 0, bad_column_last = 0;
  double factor = 0;  // 0: no constant factor explains the difference
};

struct Correctness {
  double max_relative_error = 0, max_absolute_error = 0;
  int64_t elements_compared = 0;  // over all calls; a pass needs at least one
  // The same inputs at other addresses gave the same bits; absent where they were not tried.
  std::optional<bool> deterministic;
  std::vector<OutputComparison> outputs;  // the schema's `extra`
};

struct Performance {
  double latency_ms = 0;  // medians
  // The library's median, and that over ours; absent where no library was timed.
  std::optional<double> reference_latency_ms, speedup_factor;
  Timing timing;  // the schema's `extra`
};

struct Environment {
  std::string hardware;                     // "emulated NVIDIA H100"
  std::map<std::string, std::string> libs;  // name to version
};

struct Evaluation {
  Status status = Status::RuntimeError;
  Environment environment;
  std::string timestamp;  // ISO 8601, UTC
  std::string log;
  std::optional<Correctness> correctness;
  std::string correctness_reason;  // why it is absent
  std::optional<Performance> performance;
  std::string performance_reason;
  std::optional<Audit> audit;  // ours
};

struct InputRecord {
  std::string name;
  std::optional<double> scalar;  // absent: a tensor, "random"
};

struct WorkloadRecord {
  std::string uuid;
  std::map<std::string, int64_t> axes;       // every axis, const ones too
  std::map<std::string, int64_t> overrides;  // what --set changed: not empty means a reduced task
  std::vector<InputRecord> inputs;
};

struct Trace {
  std::string definition;
  WorkloadRecord workload;
  std::string solution;
  Evaluation evaluation;
};

Json to_json(const Trace& trace);

}  // namespace weft::wire
