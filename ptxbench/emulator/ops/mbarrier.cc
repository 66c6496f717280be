// SPDX-License-Identifier: Apache-2.0

// mbarrier instructions (PTX ISA 9.0, section 9.7.13.15). Each active lane does its own step, one
// after the other: 32 lanes that arrive are 32 arrivals. Orderings and scopes need nothing here,
// because one worker runs all blocks that can reach a shared-memory barrier.

#include <string>
#include <utility>

#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/mbarrier.h"
#include "ptxbench/emulator/memory/access.h"
#include "ptxbench/emulator/warp.h"

namespace weft::emulator {

namespace {

using isa::Space;
using isa::Type;

// Op fields: a the addresses, b count or bytes or state, d token or predicate; `small` as below.
constexpr uint32_t kWide = 1u << 8;  // the addresses are 64 bits wide
constexpr uint32_t kNoComplete = 1u << 9;
constexpr uint32_t kDrop = 1u << 10;
constexpr uint32_t kExpect = 1u << 11;  // b counts bytes, one arrival
Space space_of(const Op& op) {
  return static_cast<Space>(op.small & 0xff);
}

uint64_t address_of(const Warp& warp, const Op& op, int lane) {
  return lane_address(warp, op.a, (op.small & kWide) != 0, op.immediate, lane);
}

// The barrier that a lane names, or an empty place after a fault.
BarrierPlace place_of(Warp& warp, const Op& op, int lane) {
  const uint64_t address = address_of(warp, op, lane);
  std::string_view why;
  const BarrierPlace place = find_barrier(*warp.block, space_of(op), address, why);
  if (place.word == nullptr)
    warp.fault(op, lane, FaultKind::InvalidBarrier, std::string(why), address);
  return place;
}

Outcome misuse(Warp& warp, const Op& op, int lane, const BarrierPlace& place,
               BarrierMistake mistake) {
  return warp.fault(op, lane, FaultKind::InvalidBarrier, std::string(describe(mistake)),
                    address_of(warp, op, lane), {describe_barrier(place)});
}

// What a step is to the hazard check.
enum class Told : uint8_t { Initialises, Arrives, Nothing };

// Runs `step(word, lane)` on the barrier of each lane; `step` says what is wrong.
template <Told kTold, typename Step>
Outcome each_barrier(Warp& warp, const Op& op, LaneMask exec, Step step) {
  HazardCheck* hazards = hazards_of(warp);
  for (LaneMask rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const BarrierPlace place = place_of(warp, op, lane);
    if (place.word == nullptr) return Outcome::Fault;
    if (kTold == Told::Arrives && hazards != nullptr) hazards->arrive(warp, place);
    const BarrierMistake mistake = step(*place.word, lane);
    if (mistake != BarrierMistake::None) return misuse(warp, op, lane, place, mistake);
    if (kTold == Told::Arrives && hazards != nullptr) hazards->settle(place);
    if (kTold == Told::Initialises && hazards != nullptr) hazards->initialise(place);
  }
  return Outcome::Next;
}

Outcome run_init(Warp& warp, const Op& op, LaneMask exec) {
  const uint32_t* count = warp.read<uint32_t>(op.b);
  return each_barrier<Told::Initialises>(
      warp, op, exec, [&](uint64_t& word, int lane) { return barrier_init(word, count[lane]); });
}

Outcome run_inval(Warp& warp, const Op& op, LaneMask exec) {
  return each_barrier<Told::Nothing>(warp, op, exec,
                                     [](uint64_t& word, int) { return barrier_invalidate(word); });
}

Outcome run_expect(Warp& warp, const Op& op, LaneMask exec) {
  const uint32_t* bytes = warp.read<uint32_t>(op.b);
  return each_barrier<Told::Arrives>(
      warp, op, exec, [&](uint64_t& word, int lane) { return barrier_step(word, bytes[lane], 0); });
}

Outcome run_complete(Warp& warp, const Op& op, LaneMask exec) {
  const uint32_t* bytes = warp.read<uint32_t>(op.b);
  return each_barrier<Told::Arrives>(warp, op, exec, [&](uint64_t& word, int lane) {
    return barrier_step(word, -int64_t{bytes[lane]}, 0);
  });
}

Outcome run_arrive(Warp& warp, const Op& op, LaneMask exec) {
  const uint32_t* operand = warp.read<uint32_t>(op.b);
  uint64_t* token = op.d == kNoSlot ? nullptr : warp.write<uint64_t>(op.d);
  const bool expect = (op.small & kExpect) != 0;
  const auto may_complete = (op.small & kNoComplete) != 0 ? MayComplete::No : MayComplete::Yes;
  return each_barrier<Told::Arrives>(warp, op, exec, [&](uint64_t& word, int lane) {
    const uint64_t before = word;
    const uint64_t arrivals = expect ? 1 : operand[lane];
    if (!barrier_count_in_range(arrivals)) {
      const auto validity = barrier_validity(word);
      return validity == BarrierMistake::None ? BarrierMistake::CountOutOfRange : validity;
    }
    const auto mistake = barrier_step(word, expect ? operand[lane] : 0, arrivals,
                                      (op.small & kDrop) != 0 ? arrivals : 0, may_complete);
    if (token != nullptr && mistake == BarrierMistake::None) token[lane] = before;
    return mistake;
  });
}

// pending_count: arrivals that were pending before the arrive that gave the state.
Outcome run_pending_count(Warp& warp, const Op& op, LaneMask exec) {
  each_lane(
      exec, [](uint64_t state) { return unpack_barrier(state).pending; },
      warp.write<uint32_t>(op.d), warp.read<uint64_t>(op.a));
  return Outcome::Next;
}

enum class Waiting : uint8_t { Test, Try };
enum class Phase : uint8_t { State, Parity };

template <Phase kPhase>
bool awaited_parity(const Warp& warp, Slot slot, int lane) {
  if constexpr (kPhase == Phase::Parity) return (warp.read<uint32_t>(slot)[lane] & 1) != 0;
  return unpack_barrier(warp.read<uint64_t>(slot)[lane]).phase;
}

template <typename T>
bool same_in_all_lanes(const T* values) {
  T difference = 0;
  for (int lane = 0; lane < kLanes; ++lane) difference |= values[lane] ^ values[0];
  return difference == 0;
}

// Whether all lanes ask about one phase of one barrier.
template <Phase kPhase>
bool asks_once(const Warp& warp, const Op& op) {
  const bool one_barrier = (op.small & kWide) != 0 ? same_in_all_lanes(warp.read<uint64_t>(op.a))
                                                   : same_in_all_lanes(warp.read<uint32_t>(op.a));
  if constexpr (kPhase == Phase::Parity)
    return one_barrier && same_in_all_lanes(warp.read<uint32_t>(op.b));
  return one_barrier && same_in_all_lanes(warp.read<uint64_t>(op.b));
}

// test_wait and try_wait. Lanes mostly ask about the same barrier, which is then looked at once.
// try_wait returns as soon as one lane's phase is complete: false is always a legal answer for the
// others, and a split whose lanes wait for different barriers must not hold back those that can go
// on.
template <Waiting kWaiting, Phase kPhase>
Outcome run_wait(Warp& warp, const Op& op, LaneMask exec) {
  LaneMask done = 0;
  uint64_t known_address = 0;
  uint64_t waited_for = 0;  // as a shared::cluster address, for the deadlock report
  bool known_parity = false, known_done = false, known = false;
  const bool once = exec == kAllLanes && asks_once<kPhase>(warp, op);
  for (LaneMask rest = once ? 1 : exec; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const uint64_t address = address_of(warp, op, lane);
    const bool parity = awaited_parity<kPhase>(warp, op.b, lane);
    if (!known || address != known_address || parity != known_parity) {
      const BarrierPlace place = place_of(warp, op, lane);
      if (place.word == nullptr) return Outcome::Fault;
      const BarrierMistake mistake = barrier_validity(*place.word);
      if (mistake != BarrierMistake::None) return misuse(warp, op, lane, place, mistake);
      known = true;
      known_address = address;
      known_parity = parity;
      known_done = barrier_phase_done(*place.word, parity);
      if (HazardCheck* hazards = hazards_of(warp); hazards != nullptr && known_done)
        hazards->acquire(warp, place);
      waited_for = uint64_t{place.owner->rank} << kSharedRankShift | place.offset;
    }
    done |= LaneMask{known_done} << lane;
  }
  if (once && known_done) done = kAllLanes;
  if constexpr (kWaiting == Waiting::Try) {
    Split& split = warp.split();
    if (done == 0 && !split.wait_timed_out)
      return warp.retry(Split::Wait::Mbarrier, waited_for, known_parity ? 1 : 0);
    split.wait_timed_out = false;
  }
  merge_predicate(exec, warp.predicate(op.d), done);
  return Outcome::Next;
}

// Emits the op with its address operand filled in.
Result<Op*> emit_on_barrier(Lowering& l, const ptx::Instruction& i, size_t address_operand,
                            Handler handler) {
  const Address address = TRY(l.address(i.operands[address_operand], i.space));
  Op& op = l.emit(handler);
  op.a = address.slot;
  op.immediate = address.offset;
  op.small = static_cast<uint32_t>(address.space) | (address.wide ? kWide : 0);
  return &op;
}

Result<Done> lower_with_count(Lowering& l, const ptx::Instruction& i, Handler handler) {
  const Slot count = TRY(l.source(i.operands[1], Type::U32));
  Op* op = TRY(emit_on_barrier(l, i, 0, handler));
  op->b = count;
  return Done{};
}

Result<Done> lower_arrive(Lowering& l, const ptx::Instruction& i) {
  // The state is optional in the text of remote arrivals, and so is the count.
  const bool has_state = !std::holds_alternative<ptx::AddressOperand>(i.operands[0].value);
  const size_t address = has_state ? 1 : 0;
  Slot token = kNoSlot;
  if (has_state && !std::holds_alternative<ptx::Sink>(i.operands[0].value))
    token = TRY(l.destination(i.operands[0], Type::B64));
  const bool counted = i.operands.size() > address + 1;
  const Slot operand =
      counted ? TRY(l.source(i.operands[address + 1], Type::U32)) : l.broadcast<uint32_t>(1);
  Op* op = TRY(emit_on_barrier(l, i, address, run_arrive));
  op->d = token;
  op->b = operand;
  if (i.has("expect_tx")) op->small |= kExpect;
  if (i.has("noComplete")) op->small |= kNoComplete;
  if (i.has("arrive_drop")) op->small |= kDrop;
  return Done{};
}

// The suspend-time hint of try_wait has no effect: how long to wait is the scheduler's choice.
Result<Done> lower_wait(Lowering& l, const ptx::Instruction& i) {
  const bool parity = i.has("parity");
  const Slot d = TRY(l.predicate_destination(i.operands[0]));
  const Slot awaited = TRY(l.source(i.operands[2], parity ? Type::U32 : Type::B64));
  const Handler handler =
      i.has("try_wait")
          ? (parity ? run_wait<Waiting::Try, Phase::Parity> : run_wait<Waiting::Try, Phase::State>)
          : (parity ? run_wait<Waiting::Test, Phase::Parity>
                    : run_wait<Waiting::Test, Phase::State>);
  Op* op = TRY(emit_on_barrier(l, i, 1, handler));
  op->d = d;
  op->b = awaited;
  return Done{};
}

Result<Done> lower_mbarrier(Lowering& l, const ptx::Instruction& i) {
  if (i.has("arrive") || i.has("arrive_drop")) return lower_arrive(l, i);
  if (i.has("try_wait") || i.has("test_wait")) return lower_wait(l, i);
  if (i.has("init")) return lower_with_count(l, i, run_init);
  if (i.has("expect_tx")) return lower_with_count(l, i, run_expect);
  if (i.has("complete_tx")) return lower_with_count(l, i, run_complete);
  if (i.has("inval")) {
    TRY(emit_on_barrier(l, i, 0, run_inval));
    return Done{};
  }
  if (i.has("pending_count")) {
    const Slot d = TRY(l.destination(i.operands[0], Type::U32));
    const Slot state = TRY(l.source(i.operands[1], Type::B64));
    Op& op = l.emit(run_pending_count);
    op.d = d;
    op.a = state;
    return Done{};
  }
  return l.unsupported("this form of mbarrier");
}

constexpr Meaning kMeanings[] = {{"mbarrier", lower_mbarrier}};

}  // namespace

std::span<const Meaning> mbarrier_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
