// SPDX-License-Identifier: Apache-2.0

// The tensors of a bench: pristine contents, and sets of buffers that calls use in turn.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ptxbench/judge/bench_orders.h"
#include "ptxbench/judge/orders.h"
#include "ptxbench/judge/worker/cooler.h"
#include "ptxbench/judge/worker/tensors.h"
#include "ptxbench/judge/worker/timing_runtime.h"

namespace weft::judge {

class BufferSets {
 public:
  static Result<BufferSets> allocate(const Runtime& runtime, const TimingRuntime& timing,
                                     const Orders& orders, const BenchOrders& bench);

  // The call's content, rotated, into its set; outputs are poisoned.
  Result<Done> prepare(const BenchCall& call, uint8_t poison) const;
  const Cooler& cooler() const { return cooler_; }

  const DeviceTensors& set(unsigned index) const { return sets_[index]; }

 private:
  Result<Done> rotate(void* to, const void* from, size_t tensor, int position,
                      int64_t amount) const;
  Result<Done> fill_tensor(const BenchCall& call, size_t tensor) const;

  const Runtime* runtime_ = nullptr;
  const TimingRuntime* timing_ = nullptr;
  const Orders* orders_ = nullptr;
  const BenchOrders* bench_ = nullptr;
  std::vector<DeviceTensors> contents_, sets_;
  void* scratch_ = nullptr;  // as large as the largest tensor
  Cooler cooler_;
};

}  // namespace weft::judge
