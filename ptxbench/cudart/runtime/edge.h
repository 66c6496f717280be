// SPDX-License-Identifier: Apache-2.0

// The shape of every runtime function: refuse when the device is unusable, do the work, remember
// what went wrong for cudaGetLastError.
#pragma once

#include <new>

#include "ptxbench/cudart/context.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/status.h"

namespace weft::cudart {

template <typename Call>
int answer(Call&& call) {
  adopt_primary_context();
  Status status = ready();
  if (status == Status::Success) {
    try {
      status = call();
    } catch (const std::bad_alloc&) {
      status = Status::MemoryAllocation;
    }
  }
  return remember(status);
}

}  // namespace weft::cudart
