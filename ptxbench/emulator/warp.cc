// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/emulator/warp.h"

#include <algorithm>
#include <cstring>

#include "ptxbench/emulator/barrier_release.h"
#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

namespace {

// When lanes have parted, a split gets at most this many ops before the next one's turn, so that a
// thread spinning on a lock does not keep its holder from running.
constexpr uint64_t kDivergedBudget = 256;

}  // namespace

void Warp::begin(Block& owner, uint32_t warp_index, const FunctionCode& code) {
  block = &owner;
  index = warp_index;
  const uint32_t first = warp_index * kLanes;
  const uint32_t count = std::min<uint32_t>(kLanes, owner.threads - first);
  live = count == kLanes ? kAllLanes : (1u << count) - 1;
  if (frames.empty() || frames.front()->code != &code) {
    frames.clear();
    frames.push_back(std::make_unique<Frame>());
    frames.front()->code = &code;
    frames.front()->registers = AlignedBytes(std::max(64u, code.register_bytes));
  } else {
    frames.resize(1);
    std::memset(frames.front()->registers.data(), 0, frames.front()->registers.size());
  }
  frames.front()->lanes = live;
  splits.clear();
  splits.push_back({.pc = 0, .mask = live, .frame = frames.front().get()});
  for (auto& bytes : local) bytes.clear();
  cache = {};
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
  if (frame != chosen.frame || bases[0] != chosen.frame->registers.data()) {
    frame = chosen.frame;
    bases[0] = frame->registers.data();
    bases[1] = frame->code->constants.data();
  }
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

// Runs the current split until it waits, leaves, meets another split or has used its budget.
// Everything that changes which split should run returns to `run`.
template <bool kDiverged>
void Warp::run_split(uint64_t budget) {
  uint64_t ran = 0;
  for (;;) {
    const FunctionCode& code = *frame->code;
    const uint32_t start = splits[current].pc;
    const Op* op = code.ops.data() + start;
    Counter* counter = counters + code.first_counter + start;
    const Op* meeting = nullptr;  // the next place where another split of this frame stands
    if constexpr (kDiverged) {
      for (const Split& s : splits)
        if (s.frame == frame && &s != &splits[current] && !s.waiting && s.pc >= start) {
          const Op* at = code.ops.data() + s.pc;
          if (meeting == nullptr || at < meeting) meeting = at;
        }
    }
    Outcome outcome = Outcome::Next;
    LaneMask exec = 0;
    for (;; ++op, ++counter) {
      if constexpr (kDiverged) {
        if (op == meeting) {
          splits[current].pc = pc_of(*op);
          splits[current].turn += ran;
          executed += ran;
          return;
        }
      }
      ++ran;
      exec = active;
      if (op->guard != kNoSlot) {
        exec &= predicate_value(op->guard) ^ op->guard_flip;
        if (exec == 0) continue;
      }
      outcome = op->handler(*this, *op, exec);
      if (outcome != Outcome::Next) break;
      ++counter->warps;
      counter->lanes += static_cast<uint64_t>(count_lanes(exec));
    }
    if (outcome == Outcome::Retry) {
      --ran;
      const uint32_t pc = pc_of(*op);
      split().pc = pc;
      split().stalled = true;
      // Lanes whose guard is false have nothing to wait for.
      if (exec != active) part(active & ~exec, pc + 1, frame);
    } else {
      ++counter->warps;
      counter->lanes += static_cast<uint64_t>(count_lanes(exec));
      if (outcome == Outcome::Yield) {
        split().pc = pc_of(*op) + 1;
        split().stalled = true;
      } else if (outcome == Outcome::Jump) {
        if (!kDiverged && splits.size() == 1 && ran < budget) {
          select(0);
          continue;
        }
        if (kDiverged) split().turn += ran;
      }
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
