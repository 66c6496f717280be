// SPDX-License-Identifier: Apache-2.0

// Instructions that advise: prefetches, cache policies, discards, nanosleep, performance events.
// They change no value that a program may rely on, but nanosleep hands over the turn.

#include "ptxbench/emulator/grid.h"
#include "ptxbench/emulator/lowering.h"

namespace weft::emulator {

namespace {

Outcome nothing(Warp&, const Op&, LaneMask) {
  return Outcome::Next;
}

Result<Done> lower_nothing(Lowering& l, const ptx::Instruction&) {
  l.emit(nothing);
  return Done{};
}

Outcome nanosleep(Warp& w, const Op&, LaneMask) {
  ++w.block->cluster->spin_hints;
  return Outcome::Yield;
}

Result<Done> lower_nanosleep(Lowering& l, const ptx::Instruction&) {
  l.emit(nanosleep);
  return Done{};
}

Outcome write_policy(Warp& w, const Op& op, LaneMask exec) {
  merge_lanes(exec, w.write<uint64_t>(op.d), w.read<uint64_t>(op.a));
  return Outcome::Next;
}

// A cache policy is opaque (section 9.7.9.19): any value serves, since nothing here reads it.
Result<Done> lower_createpolicy(Lowering& l, const ptx::Instruction& i) {
  const Slot d = TRY(l.destination(i.operands[0], isa::Type::B64));
  const Slot policy = l.broadcast<uint64_t>(0);
  Op& op = l.emit(write_policy);
  op.d = d;
  op.a = policy;
  return Done{};
}

constexpr Meaning kMeanings[] = {
    {"nanosleep", lower_nanosleep},       {"prefetch", lower_nothing}, {"prefetchu", lower_nothing},
    {"applypriority", lower_nothing},     {"discard", lower_nothing},  {"pmevent", lower_nothing},
    {"createpolicy", lower_createpolicy},
};

}  // namespace

std::span<const Meaning> hints_meanings() {
  return kMeanings;
}

}  // namespace weft::emulator
