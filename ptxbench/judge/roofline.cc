// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/roofline.h"

#include <algorithm>

#include "ptxbench/problems/reference.h"

namespace weft::judge {
namespace {

// Dense bf16 operations of one multiprocessor in one cycle: a data sheet's peak over its
// multiprocessors and boost clock. H100 SXM: 989.4e12 / (132 * 1.830e9) = 4096. B200: 2250e12 /
// (148 * 1.85e9) = 8218, in hardware 8192. A100: 312e12 / (108 * 1.41e9) = 2048.
double operations_a_cycle(const DeviceFacts& device) {
  if (device.compute_major == 9) return 4096;
  if (device.compute_major == 10) return 8192;
  if (device.compute_major == 8 && device.compute_minor == 0) return 2048;
  return 0;
}

}  // namespace

WorkSize work_of(const problems::Task& task) {
  WorkSize work;
  work.operations = problems::floating_point_operations(task).value_or(0);
  const auto bytes = [&task](const problems::TensorSpec& spec) {
    uint64_t size = problems::byte_size(spec.dtype);
    for (const int64_t extent : task.shape(spec)) size *= static_cast<uint64_t>(extent);
    return size;
  };
  for (const problems::TensorSpec& input : task.definition.inputs) {
    work.input_bytes += bytes(input);
    work.element_bits =
        std::min(work.element_bits, static_cast<unsigned>(8 * problems::byte_size(input.dtype)));
  }
  for (const problems::TensorSpec& output : task.definition.outputs)
    work.output_bytes += bytes(output);
  return work;
}

std::optional<Roofline> roofline(const WorkSize& work, const DeviceFacts& device,
                                 uint64_t l2_bytes) {
  const double cycle = operations_a_cycle(device);
  if (cycle == 0 || device.multiprocessors == 0 || device.max_sm_mhz == 0 ||
      device.memory_bus_bits == 0)
    return std::nullopt;
  Roofline roof;
  roof.operations = work.operations;
  roof.peak_flops =
      cycle * (work.element_bits <= 8 ? 2 : 1) * device.multiprocessors * device.max_sm_mhz * 1e6;
  // Two transfers a cycle.
  roof.bytes_a_second = 2e6 * device.max_memory_mhz * device.memory_bus_bits / 8;
  roof.bytes = work.input_bytes + (work.output_bytes > l2_bytes ? work.output_bytes - l2_bytes : 0);
  const double arithmetic = roof.operations / roof.peak_flops;
  const double memory = static_cast<double>(roof.bytes) / roof.bytes_a_second;
  roof.by_memory = memory > arithmetic;
  roof.seconds = std::max(arithmetic, memory);
  return roof;
}

}  // namespace weft::judge
