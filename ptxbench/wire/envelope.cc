// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/wire/envelope.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace weft::wire {

bool Envelope::all_passed() const {
  return !traces.empty() && traces.size() == workload_uuids.size() &&
         std::all_of(traces.begin(), traces.end(),
                     [](const Trace& trace) { return trace.evaluation.status == Status::Passed; });
}

std::optional<double> Envelope::min_speedup(std::string& reason) const {
  std::optional<double> least;
  for (const Trace& trace : traces) {
    const std::optional<Performance>& performance = trace.evaluation.performance;
    if (!performance || !performance->speedup_factor) {
      reason =
          performance ? performance->timing.library_reason : trace.evaluation.performance_reason;
      return std::nullopt;
    }
    least = std::min(least.value_or(*performance->speedup_factor), *performance->speedup_factor);
  }
  if (!least) reason = "no workload was judged";
  return least;
}

Json to_json(const Envelope& envelope) {
  Json traces = Json::array();
  for (const Trace& trace : envelope.traces) traces.push_back(to_json(trace));
  Json ptx = nullptr;
  if (envelope.ptx) {
    ptx = {{"sha256", envelope.ptx->sha256},
           {"size_bytes", envelope.ptx->size_bytes},
           {"virtual_arch", envelope.ptx->virtual_arch},
           {"instruction_counts", envelope.ptx->instruction_counts},
           {"architecture_counts", envelope.ptx->architecture_counts}};
  }
  Json json = {{"schema", "ptxbench.eval.v1"},
               {"evaluation_id", envelope.evaluation_id},
               {"task_id", envelope.task_id},
               {"definition", envelope.definition},
               {"workload_uuids", envelope.workload_uuids},
               {"kernel_sha256", envelope.kernel_sha256},
               {"status", name(envelope.status)},
               {"all_passed", envelope.all_passed()}};
  std::string reason;
  const std::optional<double> speedup = envelope.min_speedup(reason);
  json["min_speedup"] = speedup ? Json(*speedup) : Json(nullptr);
  if (!speedup) json["min_speedup_reason"] = reason;
  json["target_met"] = nullptr;
  json["target_met_reason"] = "no task names a speed-up to reach";
  json["sanitizer"] = {{"requested_runs", envelope.sanitizer.requested_runs},
                       {"completed_runs", envelope.sanitizer.completed_runs},
                       {"clean", envelope.sanitizer.clean}};
  json["compile_log"] = envelope.compile_log;
  json["ptx"] = std::move(ptx);
  json["traces"] = std::move(traces);
  json["audit"] = to_json(envelope.audit);
  return json;
}

}  // namespace weft::wire
