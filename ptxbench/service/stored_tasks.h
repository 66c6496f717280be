// SPDX-License-Identifier: Apache-2.0

// Reads the store of a server beside it, also while the server runs: for reports and replays.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptxbench/service/task.h"

namespace weft::service {

struct StoredTask {
  TaskRecord record;
  std::string request;
};

// True when the folder is a store.
bool is_store(const std::string& folder);

// Ended tasks in the order of arrival. With an id, that one only; its beginning is enough when it
// is unique.
Result<std::vector<StoredTask>> stored_tasks(const std::string& folder, const std::string& id = "");

}  // namespace weft::service
