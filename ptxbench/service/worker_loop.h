// SPDX-License-Identifier: Apache-2.0

// The device worker's own side: reads requests from descriptor 0, judges, answers there.
//
//   worker   {"ready": true}                         once, or {"error": "..."} and it ends
//   server   a stored request (request.h)
//   worker   {"progress": "workload 1 of 2: run"}    any number
//   worker   {"result": ..., "seconds": s, "cpu_seconds": c} or {"error": "..."}
#pragma once

#include "ptxbench/service/evaluator.h"

namespace weft::service {

// Returns when the server hangs up: 0, or 3 when this machine lacks something. A server that dies
// ends the process at once.
int work(EvaluatorOptions options);

}  // namespace weft::service
