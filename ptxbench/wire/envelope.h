// SPDX-License-Identifier: Apache-2.0

// The evaluation envelope ptxbench.eval.v1: what `ptxbench eval --json` prints and the service
// returns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "ptxbench/wire/audit.h"
#include "ptxbench/wire/status.h"
#include "ptxbench/wire/trace.h"

namespace weft::wire {

struct Sanitizer {
  unsigned requested_runs = 0, completed_runs = 0;
  bool clean = false;
};

// The PTX that the candidate was built to, by static count.
struct PtxSummary {
  std::string sha256;
  uint64_t size_bytes = 0;
  std::string virtual_arch;                             // "compute_90a"
  std::map<std::string, uint64_t> instruction_counts;   // by opcode's first word
  std::map<std::string, uint64_t> architecture_counts;  // by family group
};

struct Envelope {
  std::string evaluation_id;  // "ev_" and 32 hexadecimal digits
  std::string task_id;
  std::string definition;
  std::vector<std::string> workload_uuids;  // as requested: a pass needs a trace for each
  std::string kernel_sha256;
  Status status = Status::RuntimeError;
  Sanitizer sanitizer;
  std::string compile_log;
  std::optional<PtxSummary> ptx;
  std::vector<Trace> traces;
  Audit audit;

  bool all_passed() const;
  // The least speed-up over the library's of all workloads. Absent when one of them has none, and
  // then `reason` says why.
  std::optional<double> min_speedup(std::string& reason) const;
};

Json to_json(const Envelope& envelope);

}  // namespace weft::wire
