// SPDX-License-Identifier: Apache-2.0

// A task as the contract answers it. What is absent there is absent here; ours comes in addition.
#pragma once

#include <string>

#include "base/json.h"
#include "ptxbench/service/task.h"

namespace weft::service {

// {"task_id", "kind", "status", "definition", "solution", "traces" or "logs" or "error", and ours:
// "attempts", "created_at", "started_at", "finished_at", "progress", "verdicts", "worker",
// "judge_seconds", "judge_cpu_seconds", "history"}.
Json task_answer(const TaskRecord& record, const std::string& progress);

}  // namespace weft::service
