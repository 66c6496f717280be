// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/stored_tasks.h"

#include <filesystem>

#include <fmt/format.h>

#include "ptxbench/service/database.h"
#include "ptxbench/service/task_row.h"

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
  const std::string ended = fmt::format(
      "SELECT {}, request FROM tasks WHERE state NOT IN ('pending', 'running') AND substr(id, 1, "
      "?) = ? ORDER BY place",
      kRecordColumns);
  for (const SqlRow& row : TRY(database.query(ended, {static_cast<int64_t>(id.size()), id})))
    tasks.push_back({.record = record_of(row), .request = row.text(kRecordWidth)});
  return tasks;
}

}  // namespace weft::service
