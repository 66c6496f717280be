// SPDX-License-Identifier: Apache-2.0

// The task's tensors in device memory, each with its guard zones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/orders.h"
#include "ptxbench/judge/worker/runtime.h"

namespace weft::judge {

class DeviceTensors {
 public:
  static Result<DeviceTensors> allocate(const Runtime& runtime, const Orders& orders);

  // Inputs from their files, outputs and guard zones from their patterns.
  Result<Done> prepare(const Orders& orders, const CallOrder& call);
  // Every tensor into its file; damage to guard zones into the report.
  Result<Done> collect(const Orders& orders, const CallOrder& call, WorkerReport& report) const;
  // Fills everything with one byte: whoever still reads it gets nonsense.
  Result<Done> spoil(const Orders& orders, uint8_t byte);

  void* data(size_t tensor) const { return tensors_[tensor].data; }
  size_t count() const { return tensors_.size(); }

 private:
  struct Tensor {
    std::byte* start = nullptr;  // of the allocation
    std::byte* data = nullptr;
    uint64_t bytes = 0;
  };
  Result<Done> check_guard(const Orders& orders, const CallOrder& call, size_t tensor, bool behind,
                           WorkerReport& report) const;

  const Runtime* runtime_ = nullptr;
  std::vector<Tensor> tensors_;
};

}  // namespace weft::judge
