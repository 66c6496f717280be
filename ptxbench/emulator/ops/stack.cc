// SPDX-License-Identifier: Apache-2.0

// Dynamic local memory: alloca, stacksave, stackrestore (PTX ISA 9.0, section 9.7.18). The stack of
// a frame grows upward behind its variables.

#include <fmt/format.h>

#include <algorithm>

#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

namespace {

constexpr uint64_t kStackLimit = 512 * 1024;  // bytes of local memory of one thread

// The frame's allocations are the same for all its lanes: the largest request of the active ones.
Outcome allocate(Warp& w, const Op& op, LaneMask exec) {
  const uint64_t alignment = static_cast<uint64_t>(op.immediate);
  const uint64_t* sizes = w.read<uint64_t>(op.a);
  uint64_t most = 0;
  for_lanes(exec, [&](int lane) { most = std::max(most, sizes[lane]); });
  const uint64_t top = w.frame->local_base + w.frame->code->local_bytes;
  const uint64_t start = (top + w.alloca_bytes + alignment - 1) / alignment * alignment;
  if (most > kStackLimit || start + most > kStackLimit)
    return w.fault(op, first_lane(exec), FaultKind::StackOverflow,
                   fmt::format("alloca of {} bytes, a thread has {} bytes of local memory", most,
                               kStackLimit));
  w.alloca_bytes = static_cast<uint32_t>(start + most - top);
  uint64_t* d = w.write<uint64_t>(op.d);
  for_lanes(exec, [&](int lane) { d[lane] = start; });
  return Outcome::Next;
}

Outcome save(Warp& w, const Op& op, LaneMask exec) {
  uint64_t* d = w.write<uint64_t>(op.d);
  for_lanes(exec, [&](int lane) { d[lane] = w.alloca_bytes; });
  return Outcome::Next;
}

Outcome restore(Warp& w, const Op& op, LaneMask exec) {
  w.alloca_bytes = static_cast<uint32_t>(w.read<uint64_t>(op.a)[first_lane(exec)]);
  return Outcome::Next;
}

Result<Done> lower_alloca(Lowering& l, const ptx::Instruction& i) {
  const Slot d = TRY(l.destination(i.operands[0], isa::Type::U64));
  const Slot size = TRY(l.source(i.operands[1], isa::Type::U64));
  const int64_t alignment = i.operands.size() > 2 ? l.constant(i.operands[2]).value_or(8) : 8;
  Op& op = l.emit(allocate);
  op.d = d;
  op.a = size;
  op.immediate = std::max<int64_t>(alignment, 1);
  return Done{};
}

Result<Done> lower_stacksave(Lowering& l, const ptx::Instruction& i) {
  const Slot d = TRY(l.destination(i.operands[0], isa::Type::U64));
  l.emit(save).d = d;
  return Done{};
}

Result<Done> lower_stackrestore(Lowering& l, const ptx::Instruction& i) {
  const Slot a = TRY(l.source(i.operands[0], isa::Type::U64));
  l.emit(restore).a = a;
  return Done{};
}

constexpr Meaning kMeanings[] = {
    {"alloca", lower_alloca}, {"stacksave", lower_stacksave}, {"stackrestore", lower_stackrestore}};

}  // namespace

std::span<const Meaning> stack_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
