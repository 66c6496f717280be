// SPDX-License-Identifier: Apache-2.0

// Control flow (PTX ISA 9.0, section 9.7.12): branches part the warp, calls push frames.

#include <fmt/format.h>

#include <cstring>

#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/lowering.h"
#include "ptxbench/emulator/ops/device_functions.h"

namespace weft::emulator {

namespace {

// Sends `lanes` of the current split to `target`, the others to the next op.
Outcome branch(Warp& w, const Op& op, LaneMask lanes, uint32_t target) {
  if (lanes == w.active) {
    w.split().pc = target;
  } else {
    w.split().pc = w.pc_of(op) + 1;
    w.part(lanes, target, w.frame);
  }
  return Outcome::Jump;
}

Outcome bra(Warp& w, const Op& op, LaneMask exec) {
  return branch(w, op, exec, static_cast<uint32_t>(op.immediate));
}

Result<Done> lower_bra(Lowering& l, const ptx::Instruction& i) {
  const auto* label = std::get_if<ptx::LabelOperand>(&i.operands[0].value);
  if (label == nullptr) return l.error("bra needs a label of this function");
  l.emit(bra);
  l.patch_label(l.code().ops.size() - 1, label->index);
  return Done{};
}

struct BranchTable final : Extra {
  std::vector<uint32_t> targets;  // op indices
};

// Each distinct target among the lanes becomes a split of its own.
Outcome brx(Warp& w, const Op& op, LaneMask exec) {
  const auto& table = *static_cast<const BranchTable*>(static_cast<const Extra*>(op.extra));
  const uint32_t* index = w.read<uint32_t>(op.a);
  LaneMask left = exec;
  const LaneMask others = w.active & ~exec;
  if (others != 0) w.part(others, w.pc_of(op) + 1, w.frame);
  while (left != 0) {
    const int lane = first_lane(left);
    const uint32_t chosen = index[lane];
    if (chosen >= table.targets.size())
      return w.fault(op, lane, FaultKind::InvalidInstruction,
                     fmt::format("brx.idx index {} outside a table of {} targets", chosen,
                                 table.targets.size()));
    LaneMask same = 0;
    for_lanes(left,
              [&](int other) { same |= static_cast<LaneMask>(index[other] == chosen) << other; });
    left &= ~same;
    if (left == 0) {
      w.split().pc = table.targets[chosen];
    } else {
      w.part(same, table.targets[chosen], w.frame);
    }
  }
  return Outcome::Jump;
}

Result<Done> lower_brx(Lowering& l, const ptx::Instruction& i) {
  const auto* name = std::get_if<ptx::SymbolOperand>(&i.operands[1].value);
  const ptx::BranchTargets* targets = nullptr;
  if (name != nullptr)
    for (const ptx::Statement& s : l.function().body)
      if (const auto* t = std::get_if<ptx::BranchTargets>(&s);
          t != nullptr && t->name == name->name)
        targets = t;
  if (targets == nullptr)
    return l.error("brx.idx needs the name of a .branchtargets list of this function");
  const Slot index = TRY(l.source(i.operands[0], isa::Type::U32));
  auto table = std::make_unique<BranchTable>();
  table->targets.resize(targets->labels.size());
  BranchTable* kept = l.keep(std::move(table));
  for (size_t k = 0; k < targets->labels.size(); ++k)
    l.patch_table(&kept->targets, k, targets->labels[k]);
  Op& op = l.emit(brx);
  op.a = index;
  op.extra = static_cast<const Extra*>(kept);
  return Done{};
}

// One argument or result that a call moves between the frames' local bytes.
struct Move {
  uint32_t caller_offset = 0;  // from the caller's local base
  uint32_t bytes = 0;
  Slot slot = kNoSlot;       // the caller passes a register or constant instead
  uint32_t slot_stride = 0;  // bytes of one lane in that slot
};

struct CallSite final : Extra {
  const FunctionCode* callee = nullptr;  // nullptr: indirect, by token in Op::a
  const DeviceFunction* builtin = nullptr;
  std::vector<Move> arguments, results;
};

constexpr uint32_t kMaximumDepth = 4096;
constexpr uint32_t kMaximumLocal = 512 * 1024;  // bytes of one thread: the device's limit

std::byte* local_bytes(Warp& w, int lane, uint32_t end) {
  auto& bytes = w.local[lane];
  if (bytes.size() < end) bytes.resize(end);
  return bytes.data();
}

Outcome enter(Warp& w, const Op& op, LaneMask exec, const FunctionCode& callee,
              const CallSite& site) {
  if (callee.parameters.size() != site.arguments.size())
    return w.fault(op, first_lane(exec), FaultKind::InvalidInstruction,
                   fmt::format("call of {} with {} arguments, it takes {}", callee.name,
                               site.arguments.size(), callee.parameters.size()));
  Frame& caller = *w.frame;
  const uint32_t base = caller.local_base + caller.code->local_bytes;
  const uint32_t end = base + callee.local_bytes;
  if (caller.depth + 1 >= kMaximumDepth || end > kMaximumLocal)
    return w.fault(
        op, first_lane(exec), FaultKind::StackOverflow,
        fmt::format("call of {} at depth {} needs {} bytes of local memory, a thread has {}",
                    callee.name, caller.depth + 1, end, kMaximumLocal));
  auto frame = std::make_unique<Frame>(callee);
  frame->caller = &caller;
  frame->return_pc = w.pc_of(op) + 1;
  frame->call = &op;
  frame->local_base = base;
  frame->lanes = exec;
  frame->depth = caller.depth + 1;
  for_lanes(exec, [&](int lane) {
    std::byte* bytes = local_bytes(w, lane, end);
    for (size_t k = 0; k < site.arguments.size(); ++k) {
      const Move& move = site.arguments[k];
      const uint32_t count = std::min(move.bytes, callee.parameters[k].size);
      const std::byte* from =
          move.slot == kNoSlot
              ? bytes + caller.local_base + move.caller_offset
              : w.read<std::byte>(move.slot) + static_cast<uint32_t>(lane) * move.slot_stride;
      std::memcpy(bytes + base + callee.parameters[k].offset, from, count);
    }
  });
  Frame* entered = frame.get();
  w.frames.push_back(std::move(frame));
  if (exec != w.active) {
    w.split().pc = w.pc_of(op) + 1;
    w.part(exec, 0, entered);
  } else {
    w.split().pc = 0;
    w.split().frame = entered;
  }
  return Outcome::Jump;
}

Outcome call_direct(Warp& w, const Op& op, LaneMask exec) {
  const auto& site = *static_cast<const CallSite*>(static_cast<const Extra*>(op.extra));
  return enter(w, op, exec, *site.callee, site);
}

// Lanes may hold different function addresses: one callee at a time, the others come back to this
// op.
Outcome call_indirect(Warp& w, const Op& op, LaneMask exec) {
  const auto& site = *static_cast<const CallSite*>(static_cast<const Extra*>(op.extra));
  const uint64_t* tokens = w.read<uint64_t>(op.a);
  const int lane = first_lane(exec);
  const FunctionCode* callee = w.block->grid->kernel->program->function_at(tokens[lane]);
  if (callee == nullptr)
    return w.fault(op, lane, FaultKind::InvalidInstruction,
                   fmt::format("indirect call to {:#x}, which is no function", tokens[lane]),
                   tokens[lane]);
  LaneMask same = 0;
  for_lanes(exec, [&](int other) {
    same |= static_cast<LaneMask>(tokens[other] == tokens[lane]) << other;
  });
  const LaneMask rest = exec & ~same;
  if (rest != 0) w.part(rest, w.pc_of(op), w.frame);
  return enter(w, op, same, *callee, site);
}

Outcome call_builtin(Warp& w, const Op& op, LaneMask exec) {
  const auto& site = *static_cast<const CallSite*>(static_cast<const Extra*>(op.extra));
  const uint32_t base = w.frame->local_base;
  const uint32_t end = base + w.frame->code->local_bytes;
  Outcome outcome = Outcome::Next;
  for_lanes(exec, [&](int lane) {
    if (outcome == Outcome::Fault) return;
    std::byte* bytes = local_bytes(w, lane, end);
    DeviceCall call{w, op, lane, {}, nullptr};
    for (const Move& move : site.arguments) {
      uint64_t value = 0;
      const std::byte* from =
          move.slot == kNoSlot
              ? bytes + base + move.caller_offset
              : w.read<std::byte>(move.slot) + static_cast<uint32_t>(lane) * move.slot_stride;
      std::memcpy(&value, from, std::min<uint32_t>(move.bytes, 8));
      call.arguments.push_back(value);
    }
    uint64_t result = 0;
    call.result = &result;
    outcome = site.builtin->run(call);
    if (!site.results.empty()) {
      const Move& move = site.results[0];
      if (move.slot == kNoSlot) {
        std::memcpy(local_bytes(w, lane, end) + base + move.caller_offset, &result,
                    std::min<uint32_t>(move.bytes, 8));
      } else {
        std::memcpy(w.write<std::byte>(move.slot) + static_cast<uint32_t>(lane) * move.slot_stride,
                    &result, move.slot_stride);
      }
    }
  });
  return outcome;
}

Result<std::vector<Move>> moves(Lowering& l, const ptx::Operand* list, bool destination) {
  std::vector<Move> result;
  if (list == nullptr) return result;
  for (const ptx::Operand* element : l.elements(*list)) {
    Move move;
    const auto* symbol = std::get_if<ptx::SymbolOperand>(&element->value);
    if (symbol != nullptr && symbol->kind == ptx::SymbolOperand::Kind::FunctionVariable) {
      const ptx::Variable& variable = l.function().variables[symbol->index];
      move.caller_offset = l.variable_offset(symbol->index);
      move.bytes = static_cast<uint32_t>(variable.size());
    } else if (symbol != nullptr && symbol->kind == ptx::SymbolOperand::Kind::Parameter &&
               l.function().kind == ptx::Function::Kind::Device) {
      move.caller_offset = l.parameter_offset(symbol->index);
      move.bytes = static_cast<uint32_t>(l.function().parameters[symbol->index].size());
    } else {
      const Lowering::Sized sized = destination ? TRY(l.any_destination(*element, isa::Type::B32))
                                                : TRY(l.any_source(*element, isa::Type::B32));
      if (sized.bits == 1) return l.error("a predicate cannot be passed to a function");
      move.slot = sized.slot;
      move.slot_stride = static_cast<uint32_t>(sized.bits) / 8;
      move.bytes = move.slot_stride;
    }
    result.push_back(move);
  }
  return result;
}

Result<Done> lower_call(Lowering& l, const ptx::Instruction& i) {
  // call (results), target, (arguments), prototype: lists are optional, the target is the first
  // operand that is no list.
  const ptx::Operand *results = nullptr, *target = nullptr, *arguments = nullptr;
  for (const ptx::Operand& operand : i.operands) {
    const bool list = std::holds_alternative<ptx::ListOperand>(operand.value);
    if (target == nullptr) {
      (list ? results : target) = &operand;
    } else if (list && arguments == nullptr) {
      arguments = &operand;
    }
  }
  if (target == nullptr) return l.error("call names no function");
  auto site = std::make_unique<CallSite>();
  site->arguments = TRY(moves(l, arguments, false));
  site->results = TRY(moves(l, results, true));
  const auto* symbol = std::get_if<ptx::SymbolOperand>(&target->value);
  if (symbol == nullptr) {
    const Slot token = TRY(l.source(*target, isa::Type::U64));
    CallSite* kept = l.keep(std::move(site));
    Op& op = l.emit(call_indirect);
    op.a = token;
    op.extra = static_cast<const Extra*>(kept);
    return Done{};
  }
  const auto found = l.image().function_by_name.find(symbol->name);
  if (found != l.image().function_by_name.end()) {
    site->callee = found->second;
    CallSite* kept = l.keep(std::move(site));
    l.emit(call_direct).extra = static_cast<const Extra*>(kept);
    return Done{};
  }
  site->builtin = find_device_function(symbol->name);
  if (site->builtin == nullptr)
    return l.unsupported(fmt::format("call of {}, which has no body in this module", symbol->name));
  CallSite* kept = l.keep(std::move(site));
  l.emit(call_builtin).extra = static_cast<const Extra*>(kept);
  return Done{};
}

Outcome exit_kernel(Warp& w, const Op& op, LaneMask exec) {
  w.split().pc = w.pc_of(op) + 1;
  w.exit_lanes(exec);
  return Outcome::Exited;
}

// Returns from a device function: results go where the call op says, then the lanes join the
// caller.
Outcome ret(Warp& w, const Op& op, LaneMask exec) {
  Frame& frame = *w.frame;
  if (frame.caller == nullptr) return exit_kernel(w, op, exec);
  const auto& site = *static_cast<const CallSite*>(static_cast<const Extra*>(frame.call->extra));
  Frame& caller = *frame.caller;
  const uint32_t end = frame.local_base + frame.code->local_bytes;
  for (size_t k = 0; k < site.results.size() && k < frame.code->returns.size(); ++k) {
    const Move& move = site.results[k];
    const ParameterPlace& from = frame.code->returns[k];
    const uint32_t count = std::min(move.bytes, from.size);
    for_lanes(exec, [&](int lane) {
      std::byte* bytes = local_bytes(w, lane, end);
      std::byte* to = move.slot == kNoSlot ? bytes + caller.local_base + move.caller_offset
                                           : caller.registers + move.slot +
                                                 static_cast<uint32_t>(lane) * move.slot_stride;
      std::memcpy(to, bytes + frame.local_base + from.offset, count);
    });
  }
  frame.lanes &= ~exec;
  const uint32_t back = frame.return_pc;
  if (exec != w.active) {
    w.split().pc = w.pc_of(op) + 1;
    w.part(exec, back, &caller);
  } else {
    w.split().pc = back;
    w.split().frame = &caller;
  }
  if (frame.lanes == 0) {
    w.frame = nullptr;  // select() takes the caller's registers even where memory is reused
    std::erase_if(w.frames, [&](const auto& f) { return f.get() == &frame; });
    w.frame = &caller;
    w.registers = caller.registers;
  }
  return Outcome::Jump;
}

Result<Done> lower_ret(Lowering& l, const ptx::Instruction&) {
  l.emit(ret);
  return Done{};
}

Result<Done> lower_exit(Lowering& l, const ptx::Instruction&) {
  l.emit(exit_kernel);
  return Done{};
}

Outcome trap(Warp& w, const Op& op, LaneMask exec) {
  return w.fault(op, first_lane(exec), FaultKind::Trap, "the kernel executed trap");
}
Outcome breakpoint(Warp& w, const Op& op, LaneMask exec) {
  return w.fault(op, first_lane(exec), FaultKind::Trap,
                 "the kernel executed brkpt with no debugger attached");
}

Result<Done> lower_trap(Lowering& l, const ptx::Instruction&) {
  l.emit(trap);
  return Done{};
}
Result<Done> lower_brkpt(Lowering& l, const ptx::Instruction&) {
  l.emit(breakpoint);
  return Done{};
}

constexpr Meaning kMeanings[] = {
    {"bra", lower_bra},   {"brx", lower_brx},   {"call", lower_call},   {"ret", lower_ret},
    {"exit", lower_exit}, {"trap", lower_trap}, {"brkpt", lower_brkpt},
};

}  // namespace

void append_final_return(Lowering& lowering) {
  // Counts for no instruction: it stands for none.
  Op op;
  op.handler = ret;
  op.instruction = UINT32_MAX;
  lowering.code().ops.push_back(op);
}

std::span<const Meaning> control_flow_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
