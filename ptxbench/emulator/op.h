// SPDX-License-Identifier: Apache-2.0

// An op is an instruction made ready to run: a handler and the places of its operands. Handlers are
// chosen when the program is loaded, so nothing decides on types while it runs.
#pragma once

#include <cstdint>

#include "ptxbench/emulator/lanes.h"

namespace weft::emulator {

struct Warp;
struct Op;

// What the warp loop does after a handler.
enum class Outcome : uint8_t {
  Next,     // go on with the following op
  Jump,     // the handler changed the splits (branch, call, return): read them again
  Retry,    // cannot complete yet: run the same op again when the warp is scheduled next
  Blocked,  // the op is done but the split waits until somebody clears Split::waiting
  Yield,    // the op is done; let other warps run
  Exited,   // the lanes of the split have left the kernel
  Fault,    // Warp::fault has recorded why
};

// `exec`: the active lanes whose guard is true; never 0.
using Handler = Outcome (*)(Warp& warp, const Op& op, LaneMask exec);

// Places are byte offsets ("slots") from the first of the frame's registers; the function's
// constants lie before it, at negative offsets. A slot holds 32 values side by side; a predicate's
// is one LaneMask.
using Slot = uint32_t;
inline constexpr Slot kNoSlot = 0xfffffffeu;

struct Op {
  Handler handler = nullptr;
  Slot d = kNoSlot, a = kNoSlot, b = kNoSlot, c = kNoSlot;
  Slot guard = kNoSlot;
  LaneMask guard_flip = 0;      // kAllLanes for @!p: guard value = predicate ^ flip
  uint32_t instruction = 0;     // into FunctionCode::instructions; many ops may come from one
  uint32_t small = 0;           // free for the handler
  int64_t immediate = 0;        // address offset, branch target (op index), count, ...
  const void* extra = nullptr;  // prepared operands of rich instructions; FunctionCode owns it
};

}  // namespace weft::emulator
