// SPDX-License-Identifier: Apache-2.0

// tcgen05 but for the products (PTX ISA 9.0, section 9.7.16): giving out tensor memory, moving it
// to and from registers, and telling an mbarrier that the tensor core is done. Loads and stores
// take effect at once, so their waits have nothing to do; products and what commits them do not.

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include <fmt/format.h>

#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/mbarrier.h"
#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/ops/aligned.h"
#include "ptxbench/emulator/ops/tensor_core.h"
#include "ptxbench/emulator/tensor_memory.h"

namespace weft::emulator {

namespace {

using isa::Type;

constexpr uint32_t kPair = 1;  // Op::small: cta_group::2

// The value that all lanes give; nothing after a fault.
std::optional<uint32_t> one_value(Warp& warp, const Op& op, Slot slot, std::string_view what) {
  const uint32_t* lanes = warp.read<uint32_t>(slot);
  for (int lane = 1; lane < kLanes; ++lane)
    if (lanes[lane] != lanes[0]) {
      warp.fault(op, lane, FaultKind::InvalidInstruction,
                 fmt::format("lanes of the warp give different {}: {:#x} and {:#x}", what, lanes[0],
                             lanes[lane]));
      return std::nullopt;
    }
  return lanes[0];
}

Outcome misuse(Warp& warp, const Op& op, std::string message) {
  return warp.fault(op, 0, FaultKind::TensorMemory, std::move(message));
}

bool is_size(uint32_t columns) {
  return columns >= 32 && columns <= kTensorColumns && std::has_single_bit(columns);
}

// Allocation. Each block of a pair does it for itself: both do the same, so both get the same.

// a: where the address goes; b: how many columns.
Outcome run_alloc(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto columns = one_value(warp, op, op.b, "numbers of columns");
  if (!columns) return Outcome::Fault;
  if (!is_size(*columns))
    return misuse(warp, op,
                  fmt::format("tensor memory is given out in powers of two from 32 to 512 columns, "
                              "not {}",
                              *columns));
  TensorMemory& memory = tensor_memory_of(*warp.block);
  if (memory.relinquished)
    return misuse(warp, op, "tcgen05.alloc after tcgen05.relinquish_alloc_permit");
  const uint32_t column = memory.find_free(*columns);
  if (column == kTensorColumns) return warp.retry(Split::Wait::Other, *columns, memory.taken());
  const auto& place = *static_cast<const AddressPlace*>(op.extra);
  const uint64_t address =
      lane_address(warp, place.address.slot, place.address.wide, place.address.offset, 0);
  const isa::Space space =
      place.address.space == isa::Space::Generic ? isa::Space::Generic : isa::Space::Shared;
  std::byte* to = access(warp, op, 0, space, address, 4, 4, AccessKind::Write);
  if (to == nullptr) return Outcome::Fault;
  if (HazardCheck* hazards = hazards_of(warp))
    if (!hazards->touch(warp, op, 0, to, 4, Touch::Write)) return Outcome::Fault;
  *reinterpret_cast<uint32_t*>(to) = column;
  memory.allocations.push_back({column, *columns, issue_place(warp, op, 0)});
  return Outcome::Next;
}

Outcome run_dealloc(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto address = one_value(warp, op, op.a, "addresses of tensor memory");
  if (!address) return Outcome::Fault;
  const auto columns = one_value(warp, op, op.b, "numbers of columns");
  if (!columns) return Outcome::Fault;
  const TensorAddress at = tensor_address(*address);
  TensorMemory& memory = tensor_memory_of(*warp.block);
  const auto found =
      std::find_if(memory.allocations.begin(), memory.allocations.end(),
                   [&](const auto& a) { return a.column == at.column && a.columns == *columns; });
  if (found == memory.allocations.end() || at.lane != 0)
    return misuse(warp, op,
                  fmt::format("tcgen05.dealloc of {} columns at {:#x}, which no tcgen05.alloc gave",
                              *columns, *address));
  if (const auto* under_way = memory.conflict({at.column, *columns, 0xffff}, true))
    return in_flight_fault(warp, op, *under_way, "given back");
  memory.allocations.erase(found);
  return Outcome::Next;
}

Outcome run_relinquish(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  tensor_memory_of(*warp.block).relinquished = true;
  return Outcome::Next;
}

// Loads and stores

enum class Shape : uint8_t { L32x32b, L16x64b, L16x128b, L16x256b, L16x32bx2 };

// Which lane, from the first, and which word of a lane a thread's register stands for; a word is a
// column, or two of them when packed. `half`: of the two places of 16x32bx2.
struct Cell {
  uint32_t lane = 0, word = 0, half = 0;
};
Cell cell(Shape shape, uint32_t thread, uint32_t r) {
  switch (shape) {
    case Shape::L32x32b:
      return {thread, r};
    case Shape::L16x64b:  // two rows of eight take turns: a register is 16 lanes of two columns
      return {thread / 4 + thread % 2 * 8, 2 * r + thread / 2 % 2};
    case Shape::L16x128b:  // pairs of registers: eight lanes of four columns, and eight lanes on
      return {thread / 4 + r % 2 * 8, r / 2 * 4 + thread % 4};
    case Shape::L16x256b:  // fours: as the accumulators of mma
      return {thread / 4 + r / 2 % 2 * 8, r / 4 * 8 + thread % 4 * 2 + r % 2};
    case Shape::L16x32bx2:
      return {thread % 16, r, thread / 16};
  }
  return {};
}

struct MovePlan final : Extra {
  Shape shape = Shape::L32x32b;
  bool packed = false;  // two columns' lower halves in a register
  bool store = false;
  uint32_t half_offset = 0;  // columns from one place of 16x32bx2 to the other
  std::vector<Slot> registers;
  Address address;

  uint32_t lanes() const { return shape == Shape::L32x32b ? 32 : 16; }
  // Columns side by side, in words of registers.
  uint32_t width() const {
    const auto count = static_cast<uint32_t>(registers.size());
    return shape == Shape::L16x64b    ? 2 * count
           : shape == Shape::L16x128b ? 2 * count
           : shape == Shape::L16x256b ? 2 * count
                                      : count;
  }
};

// Checks what the instruction touches: false after a fault.
bool may_move(Warp& warp, const Op& op, const MovePlan& plan, TensorMemory& memory,
              TensorAddress at) {
  const uint32_t quarter = warp.index % 4 * 32;
  if (at.lane % plan.lanes() != 0 || at.lane < quarter || at.lane + plan.lanes() > quarter + 32) {
    misuse(warp, op,
           fmt::format("warp {} reaches lanes {} to {} of tensor memory, not lanes {} to {}",
                       warp.index, quarter, quarter + 31, at.lane, at.lane + plan.lanes() - 1));
    return false;
  }
  const uint32_t width = plan.width() * (plan.packed ? 2 : 1);
  const auto groups = static_cast<LaneGroups>((plan.lanes() == 32 ? 0xfu : 0x3u) << at.lane / 8);
  const int parts = plan.shape == Shape::L16x32bx2 ? 2 : 1;
  for (int part = 0; part < parts; ++part) {
    const uint32_t column = at.column + (part == 0 ? 0 : plan.half_offset);
    if (std::string why = memory.problem(column, width); !why.empty()) {
      misuse(warp, op, std::move(why));
      return false;
    }
    if (const auto* under_way = memory.conflict({column, width, groups}, plan.store)) {
      in_flight_fault(warp, op, *under_way, plan.store ? "written" : "read");
      return false;
    }
  }
  return true;
}

template <bool kStore>
Outcome run_move(Warp& warp, const Op& op, LaneMask exec) {
  if (const auto outcome = not_together(warp, op, exec)) return *outcome;
  const auto& plan = *static_cast<const MovePlan*>(op.extra);
  const auto base = tensor_operand(warp, op, plan.address);
  if (!base) return Outcome::Fault;
  const TensorAddress at = tensor_address(*base);
  TensorMemory& memory = tensor_memory_of(*warp.block);
  if (!may_move(warp, op, plan, memory, at)) return Outcome::Fault;
  for (uint32_t r = 0; r < plan.registers.size(); ++r) {
    uint32_t* values = warp.write<uint32_t>(plan.registers[r]);
    for (uint32_t thread = 0; thread < kLanes; ++thread) {
      const Cell to = cell(plan.shape, thread, r);
      const uint32_t lane = at.lane + to.lane;
      const uint32_t column =
          at.column + to.word * (plan.packed ? 2 : 1) + to.half * plan.half_offset;
      uint32_t& word = memory.word(lane, column);
      if (plan.packed) {
        uint32_t& next = memory.word(lane, column + 1);
        if constexpr (kStore) {
          word = values[thread] & 0xffff;
          next = values[thread] >> 16;
        } else {
          values[thread] = (word & 0xffff) | next << 16;
        }
      } else if constexpr (kStore) {
        word = values[thread];
      } else {
        values[thread] = word;
      }
    }
  }
  return Outcome::Next;
}

Outcome run_wait(Warp& warp, const Op& op, LaneMask exec) {
  return not_together(warp, op, exec).value_or(Outcome::Next);
}

// Orders what is in order here anyway.
Outcome run_fence(Warp&, const Op&, LaneMask) {
  return Outcome::Next;
}

// Commit

struct CommitPlan final : Extra {
  Address barrier;
  Slot mask = kNoSlot;  // .multicast::cluster: 16 bits of ranks
};

// The arrival at one mbarrier or more, once the tensor core has done what was issued before.
struct Commit final : AsyncOperation {
  IssuePlace place;
  std::vector<BarrierPlace> barriers;
  uint32_t promise = 0;  // to the hazard check

  bool perform(Cluster& cluster) override {
    HazardCheck* hazards = cluster.hazards;
    for (const BarrierPlace& barrier : barriers) {
      if (hazards != nullptr) hazards->deliver(promise, barrier);
      if (const auto mistake = barrier_step(*barrier.word, 0, 1); mistake != BarrierMistake::None)
        return place.fault(FaultKind::InvalidBarrier, std::string(describe(mistake)),
                           barrier.offset, {describe_barrier(barrier)});
      if (hazards != nullptr) hazards->settle(barrier);
    }
    if (hazards != nullptr) hazards->forget(promise);
    return true;
  }
};

bool commit_lane(Warp& warp, const Op& op, int lane) {
  const auto& plan = *static_cast<const CommitPlan*>(op.extra);
  Block& block = *warp.block;
  const uint64_t address =
      lane_address(warp, plan.barrier.slot, plan.barrier.wide, plan.barrier.offset, lane);
  std::string_view why;
  const BarrierPlace named = find_barrier(block, plan.barrier.space, address, why);
  auto commit = std::make_unique<Commit>();
  commit->place = issue_place(warp, op, lane);
  if (named.word == nullptr) {
    warp.fault(op, lane, FaultKind::InvalidBarrier, std::string(why), address);
    return false;
  }
  if (plan.mask == kNoSlot) {
    commit->barriers.push_back(named);
  } else {
    const auto& blocks = block.cluster->blocks;
    const uint32_t mask = warp.read<uint16_t>(plan.mask)[lane];
    if (mask >> blocks.size() != 0) {
      warp.fault(op, lane, FaultKind::InvalidInstruction,
                 fmt::format("multicast mask {:#x} names blocks that a cluster of {} does not have",
                             mask, blocks.size()));
      return false;
    }
    for_lanes(mask, [&](int rank) {
      commit->barriers.push_back(barrier_at(*blocks[static_cast<size_t>(rank)], named.offset));
    });
  }
  for (const BarrierPlace& barrier : commit->barriers)
    if (const auto mistake = barrier_validity(*barrier.word); mistake != BarrierMistake::None) {
      warp.fault(op, lane, FaultKind::InvalidBarrier, std::string(describe(mistake)), address,
                 {describe_barrier(barrier)});
      return false;
    }
  if (HazardCheck* hazards = hazards_of(warp)) commit->promise = hazards->promise_tensor(warp);
  Block* peer = (op.small & kPair) != 0 ? pair_of(block) : nullptr;
  const uint64_t due = tensor_core_due(*block.cluster, tensor_memory_of(block),
                                       peer == nullptr ? nullptr : &tensor_memory_of(*peer));
  block.cluster->async.submit(std::move(commit), due);
  return true;
}

Outcome run_commit(Warp& warp, const Op& op, LaneMask exec) {
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1)
    if (!commit_lane(warp, op, first_lane(rest))) return Outcome::Fault;
  return Outcome::Next;
}

// Lowering

Result<Done> lower_alloc(Lowering& l, const ptx::Instruction& i) {
  auto place = std::make_unique<AddressPlace>();
  place->address = TRY(l.address(i.operands[0], i.space));
  const Slot columns = TRY(l.source(i.operands[1], Type::U32));
  const AddressPlace* kept = l.keep(std::move(place));
  Op& op = l.emit(run_alloc);
  op.b = columns;
  op.extra = kept;
  return Done{};
}

Result<Done> lower_dealloc(Lowering& l, const ptx::Instruction& i) {
  const Slot address = TRY(l.source(i.operands[0], Type::U32));
  const Slot columns = TRY(l.source(i.operands[1], Type::U32));
  Op& op = l.emit(run_dealloc);
  op.a = address;
  op.b = columns;
  return Done{};
}

size_t count_of(const ptx::Instruction& i) {
  for (size_t count = 1; count <= 128; count *= 2)
    if (i.has(fmt::format("x{}", count))) return count;
  return 0;
}

Result<Done> lower_move(Lowering& l, const ptx::Instruction& i, bool store) {
  auto plan = std::make_unique<MovePlan>();
  plan->store = store;
  plan->packed = i.has("pack::16b") || i.has("unpack::16b");
  size_t per_count = 1;
  if (i.has("16x64b")) {
    plan->shape = Shape::L16x64b;
  } else if (i.has("16x128b")) {
    plan->shape = Shape::L16x128b;
    per_count = 2;
  } else if (i.has("16x256b")) {
    plan->shape = Shape::L16x256b;
    per_count = 4;
  } else if (i.has("16x32bx2")) {
    plan->shape = Shape::L16x32bx2;
  }
  const bool halves = plan->shape == Shape::L16x32bx2;
  // ld: d, [taddr]{, half offset}; st: [taddr]{, half offset}, d.
  const size_t address = store ? 0 : 1, data = store ? (halves ? 2 : 1) : 0;
  if (halves) {
    const auto offset = l.constant(i.operands[address + 1]);
    if (!offset || *offset < 0)
      return l.wrong_operand(i.operands[address + 1], "the half-split offset is a constant");
    plan->half_offset = static_cast<uint32_t>(*offset);
  }
  plan->address = TRY(l.address(i.operands[address], i.space));
  const auto registers = l.elements(i.operands[data]);
  const size_t expected = per_count * count_of(i);
  if (expected > 128)
    return l.error(fmt::format("{} registers for a thread", expected),
                   "16x128b goes up to x64, 16x256b up to x32");
  if (registers.size() != expected)
    return l.error(
        fmt::format("{} registers, the shape and count have {}", registers.size(), expected));
  for (const ptx::Operand* r : registers)
    plan->registers.push_back(store ? TRY(l.source(*r, Type::B32))
                                    : TRY(l.destination(*r, Type::B32)));
  const MovePlan* kept = l.keep(std::move(plan));
  l.emit(store ? run_move<true> : run_move<false>).extra = kept;
  return Done{};
}

Result<Done> lower_commit(Lowering& l, const ptx::Instruction& i) {
  auto plan = std::make_unique<CommitPlan>();
  plan->barrier = TRY(l.address(i.operands[0], i.space));
  const bool multicast = i.has("multicast::cluster");
  if (multicast != (i.operands.size() > 1))
    return l.error("a mask of blocks and .multicast::cluster go together");
  if (multicast) plan->mask = TRY(l.source(i.operands[1], Type::U16));
  const CommitPlan* kept = l.keep(std::move(plan));
  Op& op = l.emit(run_commit);
  op.extra = kept;
  op.small = i.has("cta_group::2") ? kPair : 0;
  return Done{};
}

Result<Done> lower_tcgen05(Lowering& l, const ptx::Instruction& i) {
  const auto first = i.modifiers.empty() ? std::string_view() : std::string_view(i.modifiers[0]);
  if (first == "alloc") return lower_alloc(l, i);
  if (first == "dealloc") return lower_dealloc(l, i);
  if (first == "relinquish_alloc_permit") {
    l.emit(run_relinquish);
    return Done{};
  }
  if (i.has("red")) return l.unsupported("tcgen05.ld with a reduction");
  if (first == "ld") return lower_move(l, i, false);
  if (first == "st") return lower_move(l, i, true);
  if (first == "wait::ld" || first == "wait::st") {
    l.emit(run_wait);
    return Done{};
  }
  if (first.starts_with("fence::")) {
    l.emit(run_fence);
    return Done{};
  }
  if (first == "commit") return lower_commit(l, i);
  if (first == "cp") return lower_tensor_memory_copy(l, i);
  if (first == "mma") return lower_tensor_mma(l, i);
  return l.unsupported("this form of tcgen05");
}

constexpr Meaning kMeanings[] = {{"tcgen05", lower_tcgen05}};

}  // namespace

std::optional<uint32_t> tensor_operand(Warp& warp, const Op& op, const Address& address) {
  const auto value = [&](int lane) {
    return static_cast<uint32_t>(
        lane_address(warp, address.slot, address.wide, address.offset, lane));
  };
  for (int lane = 1; lane < kLanes; ++lane)
    if (value(lane) != value(0)) {
      warp.fault(op, lane, FaultKind::InvalidInstruction,
                 fmt::format("lanes of the warp give different addresses of tensor memory: {:#x} "
                             "and {:#x}",
                             value(0), value(lane)));
      return std::nullopt;
    }
  return value(0);
}

Outcome in_flight_fault(Warp& warp, const Op& op, const TensorMemory::InFlight& under_way,
                        std::string_view verb) {
  const ptx::Instruction& by = *under_way.by;
  return warp.fault(
      op, 0, FaultKind::TensorMemory,
      fmt::format("columns {} to {} of tensor memory are {} while the tensor core {} them",
                  under_way.range.column, under_way.range.column + under_way.range.columns - 1,
                  verb, under_way.written ? "writes" : "reads"),
      0,
      {fmt::format("issued by the tcgen05.{} on ptx line {}{}; its tcgen05.commit must have been "
                   "waited for",
                   by.modifiers.empty() ? "mma" : by.modifiers[0], by.position.line,
                   by.line.line == 0 ? "" : fmt::format(" (source line {})", by.line.line))});
}

std::span<const Meaning> tensor_memory_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
