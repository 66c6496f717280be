// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/service/task_row.h"

namespace weft::service {

TaskRecord record_of(const SqlRow& row) {
  return {.id = row.text(0),
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
          .history = row.text(12)};
}

}  // namespace weft::service
