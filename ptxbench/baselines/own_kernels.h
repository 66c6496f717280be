// SPDX-License-Identifier: Apache-2.0

// Kernels of known behaviour, as PTX, with which the timer is tested: one that does nothing, one
// that lasts a given time by the device's own clock, one that reads a range of memory and writes
// next to nothing.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "ptxbench/judge/worker/bench.h"

namespace weft::baselines {

class OwnKernels {
 public:
  static Result<OwnKernels> load(void* stream);

  judge::Call empty() const;
  judge::Call last(uint64_t nanoseconds) const;
  // `bytes` is a multiple of 16; `sink` is 4 bytes that are never written in practice.
  judge::Call read(const void* from, uint64_t bytes, void* sink) const;

 private:
  judge::Driver driver_;
  void *empty_ = nullptr, *last_ = nullptr, *read_ = nullptr;
  void* stream_ = nullptr;
};

}  // namespace weft::baselines
