// SPDX-License-Identifier: Apache-2.0

// A row of the table of tasks as a record, for the queue and for those who read a store beside it.
#pragma once

#include "ptxbench/service/database.h"
#include "ptxbench/service/task.h"

namespace weft::service {

constexpr const char* kRecordColumns =
    "id, kind, state, definition, solution, attempts, deaths, created, started, finished, result, "
    "error, history";
constexpr size_t kRecordWidth = 13;  // columns in that list; more may follow in a row

TaskRecord record_of(const SqlRow& row);

}  // namespace weft::service
