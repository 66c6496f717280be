// SPDX-License-Identifier: Apache-2.0

// Every chapter of meanings, and the look-up by opcode. A new chapter is one line here.

#include <unordered_map>

#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/ops/tensor_core.h"
#include "ptxbench/emulator/ops/texture_handle.h"

namespace weft::emulator {

namespace {

constexpr std::span<const Meaning> (*kChapters[])() = {
    integer_arithmetic_meanings,
    float_arithmetic_meanings,
    half_arithmetic_meanings,
    comparison_meanings,
    logic_shift_meanings,
    data_movement_meanings,
    async_copy_meanings,
    tensor_copy_meanings,
    control_flow_meanings,
    barriers_meanings,
    mbarrier_meanings,
    cluster_meanings,
    atomics_meanings,
    hints_meanings,
    stack_meanings,
    conversion_meanings,
    warp_exchange_meanings,
    matrix_meanings,
    warpgroup_matrix_meanings,
    tensor_memory_meanings,
    video_meanings,
    texture_meanings,
};

}  // namespace

MeaningFunction find_meaning(std::string_view opcode) {
  static const std::unordered_map<std::string_view, MeaningFunction> index = [] {
    std::unordered_map<std::string_view, MeaningFunction> map;
    for (auto chapter : kChapters)
      for (const Meaning& meaning : chapter()) {
        const bool unique = map.emplace(meaning.opcode, meaning.lower).second;
        INVARIANT(unique);
      }
    return map;
  }();
  const auto found = index.find(opcode);
  return found == index.end() ? nullptr : found->second;
}

}  // namespace weft::emulator
