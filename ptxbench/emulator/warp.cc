// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/warp.h"

#include <algorithm>
#include <cstring>

#include "ptxbench/emulator/barrier_release.h"
#include "ptxbench/emulator/check/hazard_check.h"
#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

namespace {

// When lanes have parted, a split gets at most this many ops before the next one's turn, so that a
// thread spinning on a lock does not keep its holder from running.
constexpr uint64_t kDivergedBudget = 256;

}  // namespace

Frame::Frame(const FunctionCode& function)
    : code(&function),
      storage(function.constants.size() + std::max(64u, function.register_bytes)),
      registers(storage.data() + function.constants.size()) {
  if (function.constants.size() != 0)
    std::memcpy(storage.data(), function.constants.data(), function.constants.size());
}

void Frame::clear_registers() {
  for (const FunctionCode::SlotRange& range : code->cleared)
    std::memset(registers + range.first, 0, range.bytes);
}

void Warp::begin(Block& owner, uint32_t warp_index, const FunctionCode& code) {
  block = &owner;
  index = warp_index;
  const uint32_t first = warp_index * kLanes;
  const uint32_t count = std::min<uint32_t>(kLanes, owner.threads - first);
  live = count == kLanes ? kAllLanes : (1u << count) - 1;
  if (frames.empty() || frames.front()->code != &code) {
    frames.clear();
    frames.push_back(std::make_unique<Frame>(code));
  } else {
    frames.resize(1);
    frames.front()->clear_registers();
  }
  frames.front()->lanes = live;
  splits.clear();
  splits.push_back({.pc = 0, .mask = live, .frame = frames.front().get()});
  for (auto& bytes : local) bytes.clear();
  carry = 0;
  cluster_arrived = cluster_owes_wait = 0;
  executed = 0;
  alloca_bytes = 0;
  copies.reset();
  select(0);
}

void Warp::select(uint32_t number) {
  current = number;
  const Split& chosen = splits[number];
  active = chosen.mask;
  frame = chosen.frame;
  registers = frame->registers;
}

// The runnable split that is furthest behind: deepest call first, then lowest program counter, so
// that lanes catch up with those that wait for them further on.
bool Warp::pick() {
  int best = -1;
  for (size_t i = 0; i < splits.size(); ++i) {
    const Split& s = splits[i];
    if (s.waiting || s.stalled) continue;
    if (best < 0) {
      best = static_cast<int>(i);
      continue;
    }
    const Split& b = splits[static_cast<size_t>(best)];
    if (s.frame->depth != b.frame->depth ? s.frame->depth > b.frame->depth : s.pc < b.pc)
      best = static_cast<int>(i);
  }
  if (best < 0) return false;
  select(static_cast<uint32_t>(best));
  return true;
}

// Joins every split that stands where the current one does. Splits blocked in a barrier are already
// past it and stay apart until they are released.
void Warp::merge_current() {
  for (size_t i = 0; i < splits.size();) {
    Split& mine = splits[current];
    Split& other = splits[i];
    const bool passing = other.released || mine.released;  // about to leave a bar.warp.sync alone
    if (i != current && !other.waiting && !passing && other.pc == mine.pc &&
        other.frame == mine.frame) {
      mine.mask |= other.mask;
      splits.erase(splits.begin() + static_cast<std::ptrdiff_t>(i));
      if (i < current) --current;
    } else {
      ++i;
    }
  }
  active = splits[current].mask;
}

void Warp::part(LaneMask lanes, uint32_t pc, Frame* in_frame) {
  splits[current].mask &= ~lanes;
  active = splits[current].mask;
  splits.push_back({.pc = pc, .mask = lanes, .frame = in_frame});
}

void Warp::exit_lanes(LaneMask lanes) {
  live &= ~lanes;
  block->live_threads -= static_cast<uint32_t>(count_lanes(lanes));
  splits[current].mask &= ~lanes;
  active = splits[current].mask;
  if (splits[current].mask == 0) splits.erase(splits.begin() + current);
  if (HazardCheck* hazards = hazards_of(*this); hazards != nullptr && live == 0)
    hazards->exit(*this);
  barriers_after_exit(*block);
}

Outcome Warp::retry(Split::Wait wait, uint64_t object, uint64_t detail) {
  Split& s = split();
  s.wait = wait;
  s.wait_object = object;
  s.wait_detail = detail;
  return Outcome::Retry;
}

void Warp::thread_index(int lane, uint32_t& x, uint32_t& y, uint32_t& z) const {
  const Extent& size = block->grid->block;
  const uint32_t thread = index * kLanes + static_cast<uint32_t>(lane);
  x = thread % size.x;
  y = thread / size.x % size.y;
  z = thread / size.x / size.y;
}

Outcome Warp::fault(const Op& op, int lane, FaultKind kind, std::string message, uint64_t address,
                    std::vector<std::string> notes) {
  const FunctionCode& code = *frame->code;
  if (frame->caller != nullptr) notes.push_back("in device function " + code.name);
  INVARIANT(op.instruction < code.instructions.size());
  record_fault(*code.instructions[op.instruction], lane, kind, std::move(message), address,
               std::move(notes));
  return Outcome::Fault;
}

Outcome Warp::block_lanes(const Op& op, LaneMask lanes, Split::Wait wait, uint64_t object) {
  const uint32_t next = pc_of(op) + 1;
  const LaneMask others = active & ~lanes;
  split().pc = next;
  if (others != 0) part(others, next, frame);
  Split& s = split();
  s.waiting = true;
  s.wait = wait;
  s.wait_object = object;
  return Outcome::Blocked;
}

// Where the split that runs from `start` has to stop: the first place from there on where another
// split of the frame stands. nullptr: nowhere.
const Op* Warp::next_meeting(const Op* ops, uint32_t start) const {
  uint32_t meeting = UINT32_MAX;
  for (const Split& s : splits)
    if (s.pc >= start && s.pc < meeting && s.frame == frame && !s.waiting && &s != &splits[current])
      meeting = s.pc;
  return meeting == UINT32_MAX ? nullptr : ops + meeting;
}

// After a jump among several splits: whether the current one is still the one to run, and meets
// nobody at its new place. It is when it went back, because it was the furthest behind.
bool Warp::keeps_running(uint32_t start, size_t split_count, const Frame* in_frame) const {
  const Split& mine = splits[current];
  if (splits.size() != split_count || mine.frame != in_frame || mine.pc > start) return false;
  for (const Split& s : splits)
    if (s.pc <= start && s.pc >= mine.pc && &s != &mine) return false;
  return true;
}

// Runs the current split until it waits, leaves, meets another split or has used its budget.
// Everything that changes which split should run returns to `run`.
template <bool kDiverged>
void Warp::run_split(uint64_t budget) {
  uint64_t ran = 0;
  const Op* meeting = nullptr;
  if constexpr (kDiverged) meeting = next_meeting(frame->code->ops.data(), splits[current].pc);
  for (;;) {
    const FunctionCode& code = *frame->code;
    const Frame* const in_frame = frame;
    const size_t split_count = splits.size();
    const uint32_t start = splits[current].pc;
    const Op* const ops = code.ops.data();
    const LaneMask lanes = active;
    ++run_number;
    const Op* op = ops + start;
    Outcome outcome = Outcome::Next;
    LaneMask exec = lanes;
    for (;; ++op) {
      if constexpr (kDiverged)
        if (op == meeting) break;
      if (op->guard == kNoSlot) {
        outcome = op->handler(*this, *op, lanes);
      } else {
        exec = lanes & (predicate_value(op->guard) ^ op->guard_flip);
        if (exec == 0) continue;
        outcome = op->handler(*this, *op, exec);
        if (tally != nullptr && outcome != Outcome::Retry)
          tally->add_guarded(code.first_counter + static_cast<uint32_t>(op - ops),
                             static_cast<uint64_t>(count_lanes(exec)));
      }
      if (outcome != Outcome::Next) break;
    }
    const auto pc = static_cast<uint32_t>(op - ops);
    // The last op counts unless it has not run: another split stands there, or it will run again.
    const bool complete = outcome != Outcome::Next && outcome != Outcome::Retry;
    const uint32_t end = complete ? pc + 1 : pc;
    ran += end - start;
    if (tally != nullptr)
      tally->add_run(code.first_counter + start, code.first_counter + end,
                     static_cast<uint64_t>(count_lanes(lanes)));
    switch (outcome) {
      case Outcome::Next:  // met another split
        split().pc = pc;
        split().turn += ran;
        break;
      case Outcome::Retry:
        split().pc = pc;
        split().stalled = true;
        // Lanes whose guard is false have nothing to wait for.
        if (op->guard != kNoSlot && exec != active) part(active & ~exec, pc + 1, frame);
        break;
      case Outcome::Yield:
        split().pc = pc + 1;
        split().stalled = true;
        break;
      case Outcome::Jump:
        if constexpr (kDiverged) {
          // Nobody stands between the two places, so the next meeting stays the same.
          if (split().turn + ran < budget && keeps_running(start, split_count, in_frame)) continue;
          split().turn += ran;
        } else if (splits.size() == 1 && ran < budget) {
          select(0);
          continue;
        }
        break;
      default:
        break;
    }
    executed += ran;
    return;
  }
}

uint64_t Warp::run(uint64_t budget) {
  executed = 0;
  for (Split& s : splits) {
    s.stalled = false;
    s.turn = 0;
  }
  const GridRun& grid = *block->grid;
  while (!splits.empty() && executed < budget && !grid.stop.load(std::memory_order_relaxed)) {
    if (splits.size() == 1) {
      if (splits[0].waiting || splits[0].stalled) break;
      select(0);
      run_split<false>(budget - executed);
      continue;
    }
    if (!pick()) break;
    merge_current();
    if (splits.size() == 1) continue;
    if (split().turn >= kDivergedBudget) {
      split().turn = 0;
      split().stalled = true;  // the others' turn
      continue;
    }
    run_split<true>(kDivergedBudget);
  }
  return executed;
}

}  // namespace weft::emulator
