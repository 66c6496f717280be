// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/stored_tasks.h"

#include <filesystem>

#include "ptxbench/service/database.h"

namespace weft::service {

bool is_store(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(folder + "/tasks.sqlite", ignored);
}

Result<std::vector<StoredTask>> stored_tasks(const std::string& folder, const std::string& id) {
  if (!is_store(folder))
    return Error("not a store: " + folder, "the folder that ptxbench serve --store names");
  Database database = TRY(Database::open(folder + "/tasks.sqlite"));
  std::vector<StoredTask> tasks;
  for (const SqlRow& row : TRY(database.query(
           "SELECT id, kind, state, definition, solution, attempts, deaths, created, started, "
           "finished, result, error, history, request FROM tasks WHERE state NOT IN ('pending', "
           "'running') AND substr(id, 1, ?) = ? ORDER BY place",
           {static_cast<int64_t>(id.size()), id}))) {
    tasks.push_back({.record = {.id = row.text(0),
                                .kind = kind_named(row.text(1)).value_or(Kind::Evaluate),
                                .state = state_named(row.text(2)).value_or(State::Failed),
                                .definition = row.text(3),
                                .solution = row.text(4),
                                .attempts = static_cast<unsigned>(row.integer(5)),
                                .deaths = static_cast<unsigned>(row.integer(6)),
                                .created = row.number(7),
                                .started = row.number(8),
                                .finished = row.number(9),
                                .result = row.text(10),
                                .error = row.text(11),
                                .history = row.text(12)},
                     .request = row.text(13)});
  }
  return tasks;
}

}  // namespace weft::service
