// SPDX-License-Identifier: Apache-2.0

// Looks at the processes below one process, from outside, through /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace weft {

struct TreeUse {
  uint64_t processes = 0;
  uint64_t resident_bytes = 0;          // summed; pages that two processes share count twice
  uint64_t largest_resident_bytes = 0;  // of one process
};

// Use of all descendants of `root`, without `root` itself. Processes that end meanwhile are left
// out.
TreeUse use_below(pid_t root);

}  // namespace weft
