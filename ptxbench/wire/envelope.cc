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
               {"all_passed", envelope.all_passed()},
               {"min_speedup", envelope.min_speedup ? Json(*envelope.min_speedup) : Json(nullptr)}};
  if (!envelope.min_speedup) json["min_speedup_reason"] = envelope.min_speedup_reason;
  json["target_met"] = envelope.target_met ? Json(*envelope.target_met) : Json(nullptr);
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
