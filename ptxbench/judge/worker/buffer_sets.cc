// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/worker/buffer_sets.h"

#include <algorithm>

namespace weft::judge {

Result<BufferSets> BufferSets::allocate(const Runtime& runtime, const TimingRuntime& timing,
                                        const Orders& orders, const BenchOrders& bench) {
  BufferSets all;
  all.runtime_ = &runtime;
  all.timing_ = &timing;
  all.orders_ = &orders;
  all.bench_ = &bench;
  all.cooler_ = TRY(Cooler::create(runtime, timing));
  uint64_t largest = 0;
  for (const TensorOrder& tensor : orders.tensors) largest = std::max(largest, tensor.bytes);
  TRY(runtime.check(runtime.allocate(&all.scratch_, largest), "cudaMalloc"));
  for (const std::string& folder : bench.contents) {
    Orders named = orders;
    named.inputs = folder;
    all.contents_.push_back(TRY(DeviceTensors::allocate(runtime, orders)));
    TRY(all.contents_.back().prepare(named, CallOrder{}));
  }
  for (unsigned i = 0; i < bench.sets; ++i)
    all.sets_.push_back(TRY(DeviceTensors::allocate(runtime, orders)));
  return all;
}

Result<Done> BufferSets::rotate(void* to, const void* from, size_t tensor, int position,
                                int64_t amount) const {
  const TensorOrder& order = orders_->tensors[tensor];
  const auto axis = static_cast<size_t>(position);
  const auto extent = static_cast<uint64_t>(order.shape[axis]);
  uint64_t rows = 1;
  for (size_t i = 0; i < axis; ++i) rows *= static_cast<uint64_t>(order.shape[i]);
  const uint64_t pitch = order.bytes / rows;
  const uint64_t shift = pitch / extent * (static_cast<uint64_t>(amount) % extent);
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  // Element i goes to (i + amount) modulo the extent.
  TRY(runtime_->check(timing_->copy_rows(target + shift, pitch, source, pitch, pitch - shift, rows,
                                         TimingRuntime::kDeviceToDevice),
                      "cudaMemcpy2D"));
  if (shift == 0) return Done{};
  return runtime_->check(timing_->copy_rows(target, pitch, source + (pitch - shift), pitch, shift,
                                            rows, TimingRuntime::kDeviceToDevice),
                         "cudaMemcpy2D");
}

Result<Done> BufferSets::fill_tensor(const BenchCall& call, size_t tensor) const {
  const void* from = contents_[call.content].data(tensor);
  void* to = sets_[call.set].data(tensor);
  std::vector<std::pair<int, int64_t>> turns;
  for (size_t axis = 0; axis < bench_->axes.size(); ++axis) {
    if (bench_->axes[axis][tensor] >= 0)
      turns.emplace_back(bench_->axes[axis][tensor], call.rotations[axis]);
  }
  if (turns.empty()) {
    return runtime_->check(
        runtime_->copy(to, from, orders_->tensors[tensor].bytes, TimingRuntime::kDeviceToDevice),
        "cudaMemcpy");
  }
  if (turns.size() == 1) return rotate(to, from, tensor, turns[0].first, turns[0].second);
  TRY(rotate(scratch_, from, tensor, turns[0].first, turns[0].second));
  return rotate(to, scratch_, tensor, turns[1].first, turns[1].second);
}

Result<Done> BufferSets::prepare(const BenchCall& call, uint8_t poison) const {
  for (size_t i = 0; i < orders_->tensors.size(); ++i) {
    if (!orders_->tensors[i].output) {
      TRY(fill_tensor(call, i));
      continue;
    }
    TRY(runtime_->check(runtime_->fill(sets_[call.set].data(i), poison, orders_->tensors[i].bytes),
                        "cudaMemset"));
  }
  return Done{};
}

}  // namespace weft::judge
