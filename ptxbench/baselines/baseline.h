// SPDX-License-Identifier: Apache-2.0

// What a library offers for a task: found once, then called on any set of buffers.
#pragma once

#include <memory>

#include "base/result.h"
#include "ptxbench/judge/bench_orders.h"
#include "ptxbench/judge/orders.h"
#include "ptxbench/judge/worker/bench.h"

namespace weft::baselines {

class Baseline {
 public:
  virtual ~Baseline() = default;
  // `tensors` are inputs, then outputs, as the task orders them.
  virtual Result<judge::Call> bind(const judge::DeviceTensors& tensors) = 0;
  // Name, version, algorithm and precision.
  virtual judge::Introduction introduce() const = 0;
};

// Shapes come from `orders`. The stream is the one that calls run on.
Result<std::unique_ptr<Baseline>> open_cublaslt(const judge::Orders& orders,
                                                const judge::Runtime& runtime, void* stream);
Result<std::unique_ptr<Baseline>> open_cudnn_attention(const judge::Orders& orders,
                                                       const judge::BenchOrders& bench,
                                                       const judge::Runtime& runtime, void* stream);

}  // namespace weft::baselines
