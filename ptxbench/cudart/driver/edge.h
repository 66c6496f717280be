// SPDX-License-Identifier: Apache-2.0

// The shape of every driver function: refuse before cuInit, do the work, and translate the few
// codes that only the runtime knows. The driver keeps no last error.
#pragma once

#include <new>

#include "ptxbench/cudart/context.h"
#include "ptxbench/cudart/process.h"
#include "ptxbench/cudart/status.h"

namespace weft::cudart {

// CUresult of a status.
int driver_code(Status status);

// For functions that need no context.
template <typename Call>
int device_answer(Call&& call) {
  if (!started()) return driver_code(Status::InitializationError);
  Status status = ready();
  if (status == Status::Success) {
    try {
      status = call();
    } catch (const std::bad_alloc&) {
      status = Status::MemoryAllocation;
    }
  }
  return driver_code(status);
}

// For functions that work in the current context.
template <typename Call>
int context_answer(Call&& call) {
  if (started() && !has_context()) return driver_code(Status::InvalidContext);
  return device_answer(static_cast<Call&&>(call));
}

}  // namespace weft::cudart
