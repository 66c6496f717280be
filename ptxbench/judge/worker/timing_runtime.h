// SPDX-License-Identifier: Apache-2.0

// The part of the CUDA runtime that a bench needs besides what every run does.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "ptxbench/judge/worker/runtime.h"

namespace weft::judge {

struct TimingRuntime {
  int (*copy_rows)(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                   size_t height, int kind) = nullptr;
  int (*attribute)(int* value, int attribute, int device) = nullptr;
  int (*drop_persisting_lines)() = nullptr;
  int (*create_event)(void**) = nullptr;
  int (*record_event)(void* event, void* stream) = nullptr;
  int (*elapsed)(float* milliseconds, void* from, void* to) = nullptr;
  int (*release)(void*) = nullptr;
  int (*start_profiler)() = nullptr;
  int (*stop_profiler)() = nullptr;

  static constexpr int kDeviceToDevice = 3;  // cudaMemcpyKind
  static constexpr int kL2Bytes = 38;        // cudaDevAttrL2CacheSize

  static Result<TimingRuntime> open();
};

}  // namespace weft::judge
