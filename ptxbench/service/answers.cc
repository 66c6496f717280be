// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/answers.h"

#include <nlohmann/json.hpp>

namespace weft::service {

Json task_answer(const TaskRecord& record, const std::string& progress) {
  Json answer = {{"task_id", record.id},
                 {"kind", name(record.kind)},
                 {"status", name(record.state)},
                 {"definition", record.definition},
                 {"solution", record.solution}};
  if (!record.error.empty()) answer["error"] = record.error;
  if (record.state == State::Completed) {
    const Result<Json> result = parse_json(record.result, "stored result");
    if (result.ok() && result->is_object()) answer.update(*result);
  }
  answer["attempts"] = record.attempts;
  answer["created_at"] = record.created;
  if (record.started > 0) answer["started_at"] = record.started;
  if (record.finished > 0) answer["finished_at"] = record.finished;
  if (!progress.empty()) answer["progress"] = progress;
  if (!record.history.empty()) answer["history"] = record.history;
  return answer;
}

}  // namespace weft::service
