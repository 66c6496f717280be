// SPDX-License-Identifier: Apache-2.0

// What the host got to see of the device's memory: every copy out of it, and after every launch the
// memory that both can reach. Runs of one program are compared by it (ptxbench emulate
// --schedule-seeds). Off unless WEFT_EMULATE_HOST_READS is set.
#pragma once

#include "base/json.h"
#include "ptxbench/cudart/recorder.h"

namespace weft::cudart {

// Both do nothing while it is off, and are called when the bytes are as the host will find them.
void see_copy(const RowRange& target, const RowRange& source, const RowCount& count);
void see_shared_memory();

// For the report: an array with, for each, `what` ("copy", "managed", "pinned"), `bytes`, the
// `launches` before it, and `digests` of its parts of `part_bytes`. Null while it is off.
Json host_reads();

}  // namespace weft::cudart
