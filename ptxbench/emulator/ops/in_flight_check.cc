// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/ops/in_flight_check.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "ptxbench/emulator/flow_graph.h"
#include "ptxbench/emulator/ops/accumulator_hazard.h"
#include "ptxbench/emulator/ops/warpgroup_queue.h"
#include "ptxbench/ptx/ast.h"

namespace weft::emulator {

namespace {

struct TouchedRegisters final : Extra {
  struct Touch {
    uint32_t number = 0;  // of the register
    Slot slot = kNoSlot;
    std::string name;
    bool written = false;  // else read
  };
  std::vector<Touch> touches;
  bool is_copy = false;  // touches are its destination and its source
};

using Operation = UnwaitedOperations::Operation;

const Operation* with_accumulator(const UnwaitedOperations& unwaited, const Warp& warp, Slot slot) {
  for (const Operation& o : unwaited.operations)
    if (o.frame == warp.frame &&
        std::ranges::find(o.plan->accumulators, slot) != o.plan->accumulators.end())
      return &o;
  return nullptr;
}
const Operation* with_fragment(const UnwaitedOperations& unwaited, const Warp& warp, Slot slot) {
  for (const Operation& o : unwaited.operations)
    if (o.frame == warp.frame && o.plan->a_in_registers &&
        std::ranges::find(o.plan->a_registers, slot) != o.plan->a_registers.end())
      return &o;
  return nullptr;
}
const Operation* with_copy(const UnwaitedOperations& unwaited, const Warp& warp, uint32_t number) {
  for (const UnwaitedOperations::Copy& copy : unwaited.copies)
    if (copy.number == number)
      for (const Operation& o : unwaited.operations)
        if (o.number == copy.operation && o.frame == warp.frame) return &o;
  return nullptr;
}

Outcome fault(Warp& warp, const Op& op, LaneMask exec, const Operation& operation,
              std::string what) {
  const ptx::Instruction& mma = *operation.plan->code->instructions[operation.op->instruction];
  return warp.fault(
      op, first_lane(exec), FaultKind::RegisterInFlight,
      what + " before the wgmma.wait_group that covers it", 0,
      {fmt::format("issued by the wgmma.mma_async on ptx line {}{}; the wait must come between",
                   mma.position.line,
                   mma.line.line == 0 ? "" : fmt::format(" (source line {})", mma.line.line))});
}

// A copy of a value in flight is one, too, wherever it goes; true when that was all.
bool copied(UnwaitedOperations& unwaited, const Warp& warp, const TouchedRegisters& registers) {
  const TouchedRegisters::Touch &to = registers.touches[0], &from = registers.touches[1];
  const Operation* source = with_accumulator(unwaited, warp, from.slot);
  if (source == nullptr) source = with_copy(unwaited, warp, from.number);
  if (source == nullptr) return false;
  std::erase_if(unwaited.copies, [&](const auto& copy) { return copy.number == to.number; });
  unwaited.copies.push_back({to.number, source->number});
  return true;
}

Outcome run_check(Warp& warp, const Op& op, LaneMask exec) {
  UnwaitedOperations& unwaited = warpgroup_of(warp).members[warp.index % 4].unwaited;
  if (unwaited.operations.empty()) return Outcome::Next;
  const auto& registers = *static_cast<const TouchedRegisters*>(op.extra);
  if (registers.is_copy && copied(unwaited, warp, registers)) return Outcome::Next;
  for (const TouchedRegisters::Touch& touch : registers.touches) {
    const char* verb = touch.written ? "written" : "read";
    if (const Operation* o = with_accumulator(unwaited, warp, touch.slot))
      return fault(warp, op, exec, *o, fmt::format("accumulator {} is {}", touch.name, verb));
    if (!touch.written) {
      if (const Operation* o = with_copy(unwaited, warp, touch.number))
        return fault(warp, op, exec, *o,
                     fmt::format("{}, a copy of an accumulator, is read", touch.name));
    } else {
      if (const Operation* o = with_fragment(unwaited, warp, touch.slot))
        return fault(warp, op, exec, *o,
                     fmt::format("{}, a fragment of A, is written", touch.name));
      std::erase_if(unwaited.copies, [&](const auto& copy) { return copy.number == touch.number; });
    }
  }
  return Outcome::Next;
}

}  // namespace

void lower_in_flight_check(Lowering& l, const ptx::Instruction& i) {
  auto registers = std::make_unique<TouchedRegisters>();
  registers->is_copy = is_register_copy(i);
  const bool first_is_result = writes_first_operand(i);
  for (size_t k = 0; k < i.operands.size(); ++k) {
    // Accumulators of a wgmma may be in flight; its A fragments may not hold what is.
    if (i.opcode == "wgmma" && k != 1) continue;
    each_register(i.operands[k], [&](uint32_t r) {
      registers->touches.push_back(
          {r, l.register_slot(r), l.function().registers[r].name, k == 0 && first_is_result});
    });
  }
  const TouchedRegisters* kept = l.keep(std::move(registers));
  l.emit(run_check).extra = kept;
}

}  // namespace weft::emulator
