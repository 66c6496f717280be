// SPDX-License-Identifier: Apache-2.0

// Makes the device's L2 cache cold: what lies in it is displaced by writing a buffer several times
// its size, and lines that somebody asked to persist are let go. `ptxbench timer-test` proves on
// the device at hand that this works.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "ptxbench/judge/worker/timing_runtime.h"

namespace weft::judge {

class Cooler {
 public:
  static Result<Cooler> create(const Runtime& runtime, const TimingRuntime& timing) {
    Cooler made;
    made.runtime_ = &runtime;
    made.timing_ = &timing;
    int bytes = 0;
    TRY(runtime.check(timing.attribute(&bytes, TimingRuntime::kL2Bytes, 0),
                      "cudaDeviceGetAttribute"));
    made.l2_bytes_ = static_cast<uint64_t>(bytes);
    TRY(runtime.check(runtime.allocate(&made.buffer_, kTimes * made.l2_bytes_), "cudaMalloc"));
    return made;
  }

  // The device is idle afterwards.
  Result<Done> cool() const {
    TRY(runtime_->check(timing_->drop_persisting_lines(), "cudaCtxResetPersistingL2Cache"));
    TRY(runtime_->check(runtime_->fill(buffer_, kByte, kTimes * l2_bytes_), "cudaMemset"));
    return runtime_->check(runtime_->synchronize(), "cudaDeviceSynchronize");
  }

  uint64_t l2_bytes() const { return l2_bytes_; }

 private:
  static constexpr uint64_t kTimes = 4;
  static constexpr int kByte = 0x3C;

  const Runtime* runtime_ = nullptr;
  const TimingRuntime* timing_ = nullptr;
  void* buffer_ = nullptr;
  uint64_t l2_bytes_ = 0;
};

}  // namespace weft::judge
